import { open, realpath, stat } from 'node:fs/promises';
import { ExportError, messageOf, codeOf, isNothingThere } from '../../lib/export-error.ts';
import path from 'node:path';
import { isBucketAddress } from '../../lib/addresses/address-kinds.ts';
import { plural } from '../../lib/format-text.ts';
import { isUnproven, unfinishedEnding } from '../../places/export/export-folder.ts';
import type { ListForm, LookedAt } from './read/list-form.ts';

export type IdFormat = 'lines' | 'csv' | 'json' | 'jsonl' | 'parquet';
type InputCompression = 'none' | 'gzip' | 'zstd';

/** How much is looked at, in bytes: enough to pass over blank lines before the first value. */
const lookBytes = 512;

/** What a file is by its first bytes: for stdin, which has no name with an ending. CSV looks like lines here. */
async function lookAtFile(path: string): Promise<Pick<IdInput, 'format' | 'compression'>> {
  const head = await headOf(path);
  if (startsAs('gzip', head)) return { format: 'lines', compression: 'gzip' };
  if (startsAs('zstd', head)) return { format: 'lines', compression: 'zstd' };
  if (startsAs('parquet', head)) return { format: 'parquet', compression: 'none' };
  // The byte order mark of UTF-8, as it looks in Latin-1, may stand before the first value.
  const first = head
    .toString('latin1')
    .replace(/^\u00EF\u00BB\u00BF/, '')
    .trimStart()
    .charAt(0);
  return { format: first === '[' ? 'json' : first === '{' ? 'jsonl' : 'lines', compression: 'none' };
}

async function headOf(path: string): Promise<Buffer> {
  try {
    const file = await open(path, 'r');
    try {
      const { bytesRead, buffer } = await file.read(Buffer.alloc(lookBytes), 0, lookBytes, 0);
      return buffer.subarray(0, bytesRead);
    } finally {
      await file.close();
    }
  } catch (error) {
    throw new ExportError('input', `cannot read ids from stdin: ${messageOf(error)}`, { cause: error });
  }
}

/** What files that are no text begin with. */
const firstBytes = {
  gzip: [0x1f, 0x8b],
  zstd: [0x28, 0xb5, 0x2f, 0xfd],
  parquet: [0x50, 0x41, 0x52, 0x31],
  zip: [0x50, 0x4b, 0x03, 0x04],
  // A list may begin with an id that begins with BZh: the mark of the first block behind the level decides.
  bzip2: [0x42, 0x5a, 0x68, undefined, 0x31, 0x41, 0x59, 0x26, 0x53, 0x59],
  xz: [0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00],
  lz4: [0x04, 0x22, 0x4d, 0x18],
  sevenZip: [0x37, 0x7a, 0xbc, 0xaf, 0x27, 0x1c],
  pdf: [...Buffer.from('%PDF-')],
  sqlite: [...Buffer.from('SQLite format 3\0')],
  ole: [0xd0, 0xcf, 0x11, 0xe0],
  arrow: [...Buffer.from('ARROW1\0')],
  avro: [...Buffer.from('Obj\u0001')],
} satisfies Readonly<Record<string, readonly (number | undefined)[]>>;

/** True when a file that begins with `head` is of that kind. */
export function startsAs(kind: keyof typeof firstBytes, head: Uint8Array): boolean {
  const bytes: readonly (number | undefined)[] = firstBytes[kind];
  return bytes.every((byte, index) => byte === undefined || head[index] === byte);
}

/** One file of ids, and how to read it. */
export interface IdInput {
  /** As the user wrote it, or as the glob gave it; `-` for stdin. For messages, the unexported table and the manifest. */
  readonly name: string;
  /** Absolute. */
  readonly path: string;
  readonly format: IdFormat;
  readonly compression: InputCompression;
  /** Reads it where it is in a bucket and was not copied: then `path` is its address. */
  readonly read?: () => AsyncIterable<Uint8Array>;
  /** Its size, where it is in a bucket. */
  readonly bytes?: number;
  /** How its ids are found, once its beginning was looked at. */
  readonly form?: ListForm;
  /** How much was read for that. */
  readonly looked?: LookedAt;
}

export interface ExpandOptions {
  /** Paths, glob patterns, and `-` for stdin. */
  readonly from: readonly string[];
  /** Overrides what the file name endings say. */
  readonly format?: IdFormat | undefined;
  /** Folder that relative paths start from. */
  readonly baseDir: string;
  /** Where the caller has put the bytes of stdin. */
  readonly stdinPath?: string | undefined;
  /** Finds files in buckets. */
  readonly findRemote?: FindRemote | undefined;
  /** Where the export is written, with `{date}` as the job has it: what a pattern finds there is not read. */
  readonly outputDir?: string | undefined;
  /** Told how many files of a pattern are not read. */
  readonly onNote?: ((note: string) => void) | undefined;
}

const formatOfEnding: Readonly<Record<string, IdFormat>> = {
  csv: 'csv',
  tsv: 'csv',
  tab: 'csv',
  json: 'json',
  jsonl: 'jsonl',
  ndjson: 'jsonl',
  parquet: 'parquet',
  pq: 'parquet',
};
const compressionOfEnding: Readonly<Record<string, InputCompression>> = {
  gz: 'gzip',
  gzip: 'gzip',
  zst: 'zstd',
  zstd: 'zstd',
};

/**
 * The files behind paths and patterns, in the order given; those of one pattern sorted by name.
 * @throws {ExportError} `input` when a file is missing or is a folder, or a pattern matches nothing.
 */
export async function expandInputs(options: ExpandOptions): Promise<IdInput[]> {
  if (options.from.length === 0) {
    throw new ExportError('input', 'no id files given', { todo: 'Name at least one with --ids FILE or ids.from.' });
  }
  const inputs: IdInput[] = [];
  const mistakes: ExportError[] = [];
  for (const name of options.from) {
    try {
      if (name === '-') inputs.push(await stdinInput(options));
      else if (isBucketAddress(name)) inputs.push(...(await remoteInputs(name, options)));
      else for (const file of await filesBehind(name, options)) inputs.push(inputOf(file, options));
    } catch (error) {
      if (!(error instanceof ExportError)) throw error;
      mistakes.push(error);
    }
  }
  const [first] = mistakes;
  if (first === undefined) return inputs;
  if (mistakes.length === 1) throw first;
  throw new ExportError(
    'input',
    `cannot use these id files:\n  ${mistakes.map(({ message }) => message).join('\n  ')}`,
    {
      todo: 'Check ids.from (or --ids) in the job.',
    },
  );
}

async function stdinInput({ stdinPath, format }: ExpandOptions): Promise<IdInput> {
  if (stdinPath === undefined) throw new ExportError('input', 'ids are read from stdin (-), but stdin is a terminal');
  const seen = await lookAtFile(stdinPath);
  return { name: '-', path: stdinPath, format: format ?? seen.format, compression: seen.compression };
}

async function remoteInputs(name: string, options: ExpandOptions): Promise<IdInput[]> {
  const found = (await options.findRemote?.(name)) ?? [];
  const isPattern = name.includes('*');
  const foreign = isPattern ? await withoutOwn(found, ({ address }) => address, { ...options, name }) : found;
  if (foreign.length > 0)
    return foreign.map(({ address, ...remote }) => ({ ...inputOf(address, options), path: address, ...remote }));
  throw new ExportError('input', isPattern ? `no object matches ${name}` : `${name}: no such object`, {
    todo: isPattern ? 'check the pattern: * matches anything except /, ** matches anything' : 'check the address',
  });
}

function inputOf(name: string, { baseDir, format }: ExpandOptions): IdInput {
  const form = formOfName(name);
  return { name, path: path.resolve(baseDir, name), ...form, format: format ?? form.format };
}

/** What a file of ids is by the endings of its name. */
export function formOfName(name: string): Pick<IdInput, 'format' | 'compression'> {
  const endings = path.basename(name).toLowerCase().split('.').slice(1);
  const compression = compressionOfEnding[endings.at(-1) ?? ''] ?? 'none';
  if (compression !== 'none') endings.pop();
  return { format: formatOfEnding[endings.at(-1) ?? ''] ?? 'lines', compression };
}

async function filesBehind(name: string, options: ExpandOptions): Promise<string[]> {
  const { baseDir } = options;
  // A file may really be called `ids[1].txt`: what exists under the very name wins over the pattern.
  const kind = await kindOf(path.resolve(baseDir, name));
  if (kind === 'file' && isUnproven(name)) options.onNote?.(`${name}: this list is not proven to be complete`);
  if (kind === 'file') return [name];
  if (kind === 'folder') {
    throw new ExportError('input', `${name} is a folder, not a file of ids`, {
      todo: path.resolve(baseDir, name).endsWith(unfinishedEnding)
        ? 'It holds pages of an unfinished list. Complete the list: run the same ids command again.'
        : `Name the files in it, for example '${path.join(name, '*.txt')}'.`,
    });
  }
  if (kind === 'other') {
    throw new ExportError('input', `${name} is not a regular file: it can be read only once`, {
      todo: 'Pipe it into stdin and name it -, or save it as a file.',
    });
  }
  const { glob, isDynamicPattern } = await import('tinyglobby');
  if (!isDynamicPattern(name)) {
    throw new ExportError('input', `${name}: no such file (in ${baseDir})`, {
      todo: 'Check the file name and the folder.',
    });
  }
  const found = await glob(name, { cwd: baseDir, onlyFiles: true, absolute: path.isAbsolute(name) });
  if (found.length === 0) {
    throw new ExportError('input', `no file matches ${name} (in ${baseDir})`, {
      todo: 'Check the pattern; quote it so that the shell does not expand it.',
    });
  }
  const foreign = await withoutOwn(found, (file) => path.resolve(baseDir, file), { ...options, name });
  // By code unit, not by locale: the order decides rows, so it must be the same on every machine.
  return foreign.sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
}

/** Leaves out what lies in the export itself, and the ids that others keep. @throws {ExportError} `input` when nothing is left */
async function withoutOwn<T>(
  found: readonly T[],
  pathOf: (each: T) => string,
  { outputDir, onNote, name }: ExpandOptions & { readonly name: string },
): Promise<T[]> {
  const isOwn = outputDir === undefined ? undefined : await ownFiles(outputDir);
  const foreign: T[] = [];
  // Names without a pattern need none of it.
  const { PassedFiles } = await import('./passed-files.ts');
  const passed = new PassedFiles();
  let own = 0;
  for (const each of found) {
    if (await isOwn?.(pathOf(each))) own += 1;
    else if (!(await passed.passes(pathOf(each)))) foreign.push(each);
  }
  const ownText = `${plural(own, 'file')} under ${outputDir ?? ''}`;
  if (foreign.length === 0 && found.length > 0) {
    const isOwnAlone = own === found.length;
    throw noForeign(
      name,
      [...(own > 0 ? [`${ownText}, where this export is written`] : []), ...passed.named()],
      isOwnAlone,
    );
  }
  if (own > 0) onNote?.(`${name}: ${ownText} not read, because this export is written there`);
  for (const note of passed.notes()) onNote?.(`${name}: ${note}`);
  return foreign;
}

/** @param isOwnAlone whether all are files of this export */
function noForeign(name: string, passed: readonly string[], isOwnAlone: boolean): ExportError {
  return new ExportError('input', `${name} matches only ${passed.join(', and ')}`, {
    todo: isOwnAlone
      ? 'An export does not read its own files. Name other files, or another output folder.'
      : 'A pattern skips such files. Name each file that is to be read.',
  });
}

async function kindOf(file: string): Promise<'file' | 'folder' | 'other' | 'absent'> {
  try {
    const stats = await stat(file);
    return stats.isFile() ? 'file' : stats.isDirectory() ? 'folder' : 'other';
  } catch (error) {
    if (isNothingThere(error)) return 'absent';
    throw new ExportError('input', `cannot read ${file} (${codeOf(error) ?? 'unknown error'})`, { cause: error });
  }
}

/** The first input that is one of a folder's files (relative to it), by whatever path it was named: over a link, for example. */
export async function inputWithin(
  folder: string,
  files: readonly string[],
  inputs: readonly IdInput[],
): Promise<IdInput | undefined> {
  if (files.length === 0) return undefined;
  const top = await withoutLinks(folder);
  const paths = new Set(files.map((file) => path.join(top, file)));
  for (const input of inputs) if (paths.has(await withoutLinks(input.path))) return input;
  return undefined;
}

const date = '{date}';

/**
 * Tells which files an export may have written: those under its folder, or under that of any day where `{date}` stands in it.
 * @param dir absolute, or the address of a bucket; `{date}` in it is any UTC day
 */
async function ownFiles(dir: string): Promise<(file: string) => Promise<boolean>> {
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
async function withoutLinks(named: string): Promise<string> {
  try {
    return await realpath(named);
  } catch {
    const parent = path.dirname(named);
    return parent === named ? named : path.join(await withoutLinks(parent), path.basename(named));
  }
}

/** A file of ids in a bucket. */
export interface RemoteFile {
  /** With the bucket. */
  readonly address: string;
  readonly bytes?: number;
  /** Its bytes from the beginning: again each time. */
  readonly read: () => AsyncIterable<Uint8Array>;
}

/** Finds files of ids in buckets: the object of an address; with `*` in it all that match, sorted by name. */
export type FindRemote = (address: string) => Promise<RemoteFile[]>;

/** Matches names in which `*` stands for anything but `/`, and `**` for anything. */
export function namePattern(pattern: string): RegExp {
  const parts = pattern.split(/(\*\*\/|\*+)/).map((part) => {
    if (part === '**/') return '(?:.*/)?';
    if (part === '*') return '[^/]*';
    return part.startsWith('*') ? '.*' : part.replaceAll(/[\\^$.+?()[\]{}|/]/g, String.raw`\$&`);
  });
  return new RegExp(`^${parts.join('')}$`, 'u');
}
