import { createHash } from 'node:crypto';
import type { Column } from '../core/records/table.ts';
import { idsTable, unexportedTable } from '../core/records/id-tables.ts';
import { type FinishedExport, type ManifestFile, openFinished } from './finished-export.ts';
import { parquetMetadataAsync, parquetSchema } from 'hyparquet';
import { piecesOf, rangesOf } from '../places/export/part-bytes.ts';
import { requireAddress } from '../lib/addresses/address.ts';
import { messageOf } from '../lib/export-error.ts';
import { exportPaths, pathIn } from '../places/export/export-folder.ts';
import type { Reads, ReadableFile } from '../places/files/disk.ts';
import { knownFiles, type Manifest } from '../places/export/manifest.ts';
import { keepsIds, limitOf } from '../places/export/export-facts.ts';

/** Something in an export that is not as its manifest says. */
export interface Damage {
  /** Relative to the export. */
  readonly path: string;
  readonly problem: string;
}

export interface Verification {
  readonly files: number;
  readonly rows: number;
  readonly bytes: number;
  readonly damage: readonly Damage[];
  /** Files in its folder that are not of the export, relative to it. */
  readonly strangers: readonly string[];
  /** Of a sample: how it was drawn (`1%`). */
  readonly sample?: string;
}

/** Progress of reading. Bytes are those in the manifest. */
export interface VerifyProgress {
  readonly files: number;
  readonly filesTotal: number;
  readonly bytes: number;
  readonly bytesTotal: number;
}

/** What is known of a file that was not read. */
export interface FileLook {
  readonly bytes: number;
  readonly sha256: string | undefined;
}

/** Reads every file of a complete export again and compares it with the manifest. @throws {ExportError} without a manifest */
export async function verifyExport(
  files: Reads,
  given: string,
  options: {
    /** Looks at a file, by its path in the export, in place of reading it. */
    readonly look?: ((path: string) => Promise<FileLook | undefined>) | undefined;
    /** Called every mebibyte or so. */
    readonly onProgress?: ((progress: VerifyProgress) => void) | undefined;
  } = {},
): Promise<Verification> {
  const folder = requireAddress(given, 'export', 'the folder');
  const finished = await openFinished(folder, files);
  const { manifest } = finished;
  const damage: Damage[] = [...accountDamage(manifest)];
  const bytesTotal = manifest.files.reduce((sum, { bytes }) => sum + bytes, 0);
  let bytesBefore = 0;
  for (const [index, file] of manifest.files.entries()) {
    const tell = (read: number, done = 0): void => {
      const bytes = bytesBefore + read;
      options.onProgress?.({ files: index + done, filesTotal: manifest.files.length, bytes, bytesTotal });
    };
    const problem =
      options.look === undefined
        ? await fileProblem(files, finished, file, tell)
        : lookProblem(file, await options.look(file.path));
    if (problem !== undefined) damage.push({ path: file.path, problem });
    tell(file.bytes, 1);
    bytesBefore += file.bytes;
  }
  const some = limitOf(manifest.job);
  return {
    ...(typeof some === 'string' ? { sample: some } : {}),
    files: manifest.files.length,
    rows: manifest.files.reduce((sum, { rows }) => sum + rows, 0),
    bytes: bytesTotal,
    damage,
    strangers: await strangersIn(files, folder, manifest),
  };
}

/** The manifest against itself: the identity, the rows of every format, the ranges of the parts. */
function* accountDamage(manifest: Manifest): Generator<Damage, void, void> {
  const { counts, files, tables, parts, diff } = manifest;
  if (diff !== undefined) return yield* diffDamage(diff, manifest);
  const path = exportPaths.manifest;
  const { read, exported, carried, missing, invalid, duplicate, failed } = counts;
  const sum = exported + carried + missing + invalid + duplicate + failed;
  if (read !== sum)
    yield {
      path,
      problem: `read is ${read}, but exported + carried + missing + invalid + duplicate + failed is ${sum}`,
    };
  const rows = new Map<string, number>();
  for (const file of files) {
    const key = `${file.path.split('/')[0] ?? ''}/${file.table}`;
    rows.set(key, (rows.get(key) ?? 0) + file.rows);
  }
  for (const [key, total] of rows) {
    const table = key.split('/')[1] ?? '';
    const expected =
      table === unexportedTable.name
        ? read - exported - carried
        : table === idsTable.name
          ? read
          : table === 'assets'
            ? exported + carried
            : tables[table]?.rows;
    if (expected !== total)
      yield { path, problem: `${key} has ${total} rows in its files, but should have ${expected ?? 'none'}` };
  }
  const last = files.reduce((most, file) => Math.max(most, file.last), 0);
  if (last !== read) yield { path, problem: `the parts cover ${last} entries, but ${read} were read` };
  const besides = [unexportedTable, ...(keepsIds(manifest.job) ? [idsTable] : [])];
  for (const { name } of besides) {
    const listed = files.filter((file) => file.table === name).length;
    if (listed !== parts) yield { path, problem: `${listed} parts of ${name} are listed, but ${parts} were written` };
  }
}

/** The manifest of a diff against itself: the rows of its tables. */
function* diffDamage(
  { counts }: NonNullable<Manifest['diff']>,
  { files, tables }: Manifest,
): Generator<Damage, void, void> {
  const path = exportPaths.manifest;
  for (const [name, table] of Object.entries(tables)) {
    const total = files.filter((file) => file.table === name).reduce((sum, { rows }) => sum + rows, 0);
    const expected = name === 'changes' ? counts.inserted + counts.updated + counts.deleted : table.rows;
    if (total !== expected)
      yield { path, problem: `${name} has ${total} rows in its files, but should have ${expected}` };
  }
}

function lookProblem(file: ManifestFile, found: FileLook | undefined): string | undefined {
  if (found === undefined) return 'it is missing';
  if (found.bytes !== file.bytes) return `it has ${found.bytes} bytes instead of ${file.bytes}`;
  const isSame = found.sha256 === undefined || found.sha256 === file.sha256;
  return isSame ? undefined : 'its content changed: sha256 mismatch';
}

/** @param onBytes told how many of the file's bytes were read */
async function fileProblem(
  files: Reads,
  { folder, tables }: Pick<FinishedExport, 'folder' | 'tables'>,
  file: ManifestFile,
  onBytes: (read: number) => void,
): Promise<string | undefined> {
  const path = pathIn(folder, file.path);
  const bytes = await files.sizeOf(path);
  if (bytes === undefined) return 'it is missing';
  if (bytes === 'folder') return 'it is a folder';
  if (bytes !== file.bytes) return `it has ${bytes} bytes instead of ${file.bytes}`;
  const open = await files.open(path).catch((error: unknown) => messageOf(error));
  if (typeof open === 'string') return (await files.sizeOf(path)) === undefined ? 'it disappeared during verify' : open;
  try {
    const hash = createHash('sha256');
    let read = 0;
    for await (const piece of piecesOf(open)) {
      hash.update(piece);
      onBytes((read += piece.length));
    }
    if (hash.digest('hex') !== file.sha256) return 'its content changed: sha256 mismatch';
    if (file.format !== 'parquet') return undefined;
    return await parquetProblem(open, file, tables.get(file.table)?.columns ?? []);
  } catch (error) {
    return messageOf(error);
  } finally {
    await open.close();
  }
}

/** The footer of a Parquet file against the manifest, as another library reads it. */
async function parquetProblem(
  open: ReadableFile,
  { rows, bytes }: ManifestFile,
  columns: readonly Column[],
): Promise<string | undefined> {
  try {
    const metadata = await parquetMetadataAsync(rangesOf(open, bytes));
    if (Number(metadata.num_rows) !== rows) return `it has ${metadata.num_rows} rows instead of ${rows}`;
    const names = parquetSchema(metadata).children.map(({ element }) => element.name);
    const isSame = names.join('\n') === columns.map(({ name }) => name).join('\n');
    return isSame ? undefined : `its columns are ${names.join(', ')}`;
  } catch (error) {
    return `it is not a parquet file: ${messageOf(error)}`;
  }
}

/** Files anywhere in the folder that the manifest does not name. Tables, `load` and repair do not read them. */
async function strangersIn(files: Reads, folder: string, manifest: Manifest): Promise<string[]> {
  const known = knownFiles(manifest);
  const found: string[] = [];
  const visit = async (name: string): Promise<void> => {
    for (const entry of await files.list(pathIn(folder, name))) {
      const path = name === '' ? entry : `${name}/${entry}`;
      // A run that finds the export complete keeps its lock there, for a moment.
      if (path === exportPaths.run || known.has(path)) continue;
      const size = await files.sizeOf(pathIn(folder, path));
      if (size === 'folder') await visit(path);
      else if (size !== undefined) found.push(path);
    }
  };
  await visit('');
  return found;
}
