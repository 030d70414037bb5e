import { access, realpath } from 'node:fs/promises';
import path from 'node:path';
import { isBucketAddress } from '../../lib/addresses/bucket-address.ts';
import { exportPaths, isKeptIds } from '../../places/export/export-folder.ts';

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

/**
 * Whether a file holds the ids that an export keeps. In a bucket its name decides: to look for the export takes a request for
 * each folder.
 */
export async function isCopyOfIds(file: string): Promise<boolean> {
  if (!isKeptIds(file)) return false;
  if (isBucketAddress(file)) return true;
  const folder = path.dirname(path.dirname(file));
  return (await isThere(path.join(folder, exportPaths.manifest))) || isThere(path.join(folder, exportPaths.run));
}

function isThere(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
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
