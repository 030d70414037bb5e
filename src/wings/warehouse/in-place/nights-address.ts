import { ExportError } from '../../../lib/export-error.ts';

/** Where the nights of a job lie, for an engine that reads them in place. */
export interface NightsAddress {
  /** The folder of the dated folders, without a closing slash. */
  readonly root: string;
  /** The folders below it: `date=*`. */
  readonly folders: string;
  /** The name in front of the day; undefined in a pattern without `key=`. */
  readonly key: string | undefined;
  /** The first night, `YYYY-MM-DD`. */
  readonly first: string;
}

/** Reads `ROOT/date=*` or `ROOT/date={date}`. @throws {ExportError} `usage` for a pattern that names no nights */
export function nightsAddress(pattern: string, first: string): NightsAddress {
  const text = pattern.replace(/\/+$/, '').replace('{date}', '*');
  const at = text.lastIndexOf('/');
  const [root, folders] = [text.slice(0, Math.max(at, 0)), text.slice(at + 1)];
  if (root === '' || root.includes('*') || !/^[^*]*\*[^*]*$/.test(folders)) {
    throw new ExportError('usage', `--nights ${pattern} names no nights`, {
      todo: 'Write the folder of the nights and one *, as in s3://bucket/nightly/date=*.',
    });
  }
  return { root, folders, key: /^([A-Za-z_]\w*)=\*$/.exec(folders)?.[1], first };
}

/** The same, where an engine needs the name in front of the day. @throws {ExportError} `usage` */
export function requireKey({ key, folders }: NightsAddress, engine: string): string {
  if (key !== undefined) return key;
  throw new ExportError(
    'usage',
    `--for ${engine} cannot read the nights ${folders}: it needs a name in front of the day`,
    {
      todo: 'Write output.dir as nightly/date={date}, and --nights as nightly/date=*.',
    },
  );
}
