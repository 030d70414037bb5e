import { realpath } from 'node:fs/promises';
import path from 'node:path';
import { isBucketAddress } from '../lib/bucket-address.ts';

const date = '{date}';

/**
 * Tells which files an export may have written: those under its folder, or under that of any day where `{date}` stands in it.
 * @param dir absolute, or the address of a bucket; `{date}` in it is any UTC day
 */
export async function ownFiles(dir: string): Promise<(file: string) => Promise<boolean>> {
  const isRemote = isBucketAddress(dir);
  const pattern = patternOf(isRemote ? dir : await withoutLinks(dir));
  return async (file) => pattern.test(isRemote || isBucketAddress(file) ? file : await withoutLinks(file));
}

function patternOf(dir: string): RegExp {
  const text = dir
    .replace(/[/\\]+$/, '')
    .split(date)
    .map((part) => part.replaceAll(/[^\w-]/g, String.raw`\$&`))
    .join(String.raw`\d{4}-\d\d-\d\d`);
  return new RegExp(`^${text}[/\\\\]`);
}

/** The path with its links followed, as far as it is there: `latest` leads to an export. */
export async function withoutLinks(named: string): Promise<string> {
  try {
    return await realpath(named);
  } catch {
    const parent = path.dirname(named);
    return parent === named ? named : path.join(await withoutLinks(parent), path.basename(named));
  }
}
