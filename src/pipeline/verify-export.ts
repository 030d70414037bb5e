import { createHash } from 'node:crypto';
import { ExportError, messageOf } from '../lib/export-error.ts';
import { exportPaths, pathIn } from '../store/export-folder.ts';
import type { FileStore } from '../store/file-store.ts';
import { type Manifest, readManifest } from '../store/manifest.ts';
import { type ContentCheck, contentCheck } from './check-content.ts';
import { piecesOf } from './file-pieces.ts';
import { rawTable } from './part-build.ts';
import { unexportedTable } from './unexported.ts';

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
}

/** How far the reading is. Bytes as the manifest tells them. */
export interface VerifyProgress {
  readonly files: number;
  readonly filesTotal: number;
  readonly bytes: number;
  readonly bytesTotal: number;
}

export interface VerifyOptions {
  /** Called every mebibyte or so. */
  readonly onProgress?: ((progress: VerifyProgress) => void) | undefined;
}

type ManifestFile = Manifest['files'][number];

/** Reads every file of a complete export again and compares it with the manifest. @throws {ExportError} without a manifest */
export async function verifyExport(
  files: FileStore,
  folder: string,
  options: VerifyOptions = {},
): Promise<Verification> {
  const manifest = await manifestOf(files, folder);
  const damage: Damage[] = [...accountDamage(manifest)];
  const bytesTotal = manifest.files.reduce((sum, { bytes }) => sum + bytes, 0);
  let bytesBefore = 0;
  for (const [index, file] of manifest.files.entries()) {
    const tell = (read: number, done = 0): void => {
      const bytes = bytesBefore + read;
      options.onProgress?.({ files: index + done, filesTotal: manifest.files.length, bytes, bytesTotal });
    };
    const problem = await fileProblem(files, folder, { file, columns: columnsOf(manifest, file), onBytes: tell });
    if (problem !== undefined) damage.push({ path: file.path, problem });
    tell(file.bytes, 1);
    bytesBefore += file.bytes;
  }
  for (const stranger of await strangers(files, folder, manifest)) damage.push(stranger);
  return {
    files: manifest.files.length,
    rows: manifest.files.reduce((sum, { rows }) => sum + rows, 0),
    bytes: bytesTotal,
    damage,
  };
}

/** The manifest of a complete export. @throws {ExportError} `usage` when there is no such folder, `damaged` when it has none */
export async function manifestOf(files: FileStore, folder: string): Promise<Manifest> {
  const manifest = await readManifest(files, folder);
  if (manifest !== undefined) return manifest;
  const size = await files.sizeOf(folder);
  if (size !== 'folder') {
    const why = size === undefined ? 'does not exist' : 'is a file, not the folder of an export';
    throw new ExportError('usage', `${folder} ${why}`, {
      todo: 'Name the folder that --out or output.dir named.',
    });
  }
  throw new ExportError('damaged', `${folder} has no manifest: it is not a complete export`, {
    todo: `asset-export status ${folder} tells where it stands.`,
  });
}

/** The manifest against itself: the identity, the rows of every format, the ranges of the parts. */
function* accountDamage({ counts, files, tables, parts }: Manifest): Generator<Damage, void, void> {
  const path = exportPaths.manifest;
  const { read, exported, missing, invalid, duplicate, failed } = counts;
  const sum = exported + missing + invalid + duplicate + failed;
  if (read !== sum)
    yield { path, problem: `read is ${read}, but exported + missing + invalid + duplicate + failed is ${sum}` };
  const rows = new Map<string, number>();
  for (const file of files) {
    const key = `${file.path.split('/')[0] ?? ''}/${file.table}`;
    rows.set(key, (rows.get(key) ?? 0) + file.rows);
  }
  for (const [key, total] of rows) {
    const table = key.split('/')[1] ?? '';
    const expected =
      table === unexportedTable.name ? read - exported : table === 'assets' ? exported : tables[table]?.rows;
    if (expected !== total)
      yield { path, problem: `${key} has ${total} rows in its files, and should have ${expected ?? 'none'}` };
  }
  const last = files.reduce((most, file) => Math.max(most, file.last), 0);
  if (last !== read) yield { path, problem: `the parts cover ${last} entries, and ${read} were read` };
  const unexported = files.filter((file) => file.table === unexportedTable.name).length;
  if (unexported !== parts) yield { path, problem: `${unexported} parts are named, and ${parts} were written` };
}

interface Expectation {
  readonly file: ManifestFile;
  readonly columns: readonly string[];
  /** How many of the file's bytes were read. */
  readonly onBytes: (read: number) => void;
}

async function fileProblem(
  files: FileStore,
  folder: string,
  { file, columns, onBytes }: Expectation,
): Promise<string | undefined> {
  const path = pathIn(folder, file.path);
  const bytes = await files.sizeOf(path);
  if (bytes === undefined) return 'it is missing';
  if (bytes === 'folder') return 'a folder stands in its place';
  if (bytes !== file.bytes) return `it has ${bytes} bytes, and had ${file.bytes}`;
  const open = await files.open(path, 'read').catch((error: unknown) => messageOf(error));
  if (typeof open === 'string') return open;
  try {
    const content = contentCheck(open, file);
    const hash = createHash('sha256');
    let read = 0;
    for await (const piece of piecesOf(open)) {
      hash.update(piece);
      content.pass(piece);
      onBytes((read += piece.length));
    }
    if (hash.digest('hex') !== file.sha256) return 'its content changed: the sha256 is another';
    return await contentProblem(content, { file, columns });
  } catch (error) {
    return messageOf(error);
  } finally {
    await open.close();
  }
}

async function contentProblem(
  content: ContentCheck,
  { file, columns }: Omit<Expectation, 'onBytes'>,
): Promise<string | undefined> {
  try {
    const found = await content.found();
    if (found.rows !== file.rows) return `it has ${found.rows} rows, and the manifest says ${file.rows}`;
    if (found.columns !== undefined && found.columns.join('\n') !== columns.join('\n')) {
      return `its columns are ${found.columns.join(', ')}`;
    }
    return undefined;
  } catch (error) {
    return `it is no ${file.format} file: ${messageOf(error)}`;
  }
}

function columnsOf({ tables }: Manifest, { format, table }: ManifestFile): readonly string[] {
  if (table === unexportedTable.name) return unexportedTable.columns.map(({ name }) => name);
  if (format === 'raw') return rawTable.columns.map(({ name }) => name);
  return tables[table]?.columns.map(({ name }) => name) ?? [];
}

/** Files anywhere in the export that the manifest does not name. */
async function strangers(files: FileStore, folder: string, manifest: Manifest): Promise<Damage[]> {
  const known = new Set([exportPaths.manifest, ...manifest.files.map(({ path }) => path)]);
  const found: Damage[] = [];
  const visit = async (name: string): Promise<void> => {
    for (const entry of await files.list(pathIn(folder, name))) {
      const path = name === '' ? entry : `${name}/${entry}`;
      // A run that finds the export complete keeps its lock there, for a moment.
      if (path === exportPaths.run || known.has(path)) continue;
      if ((await files.sizeOf(pathIn(folder, path))) === 'folder') await visit(path);
      else found.push({ path, problem: 'it is no file of this export' });
    }
  };
  await visit('');
  return found;
}
