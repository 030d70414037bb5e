import { openFinished } from '../../../exports/finished-export.ts';
import { thenCleanUp } from '../../../lib/end-work.ts';
import { ExportError } from '../../../lib/export-error.ts';
import { commandLine } from '../../../lib/addresses/shown-text.ts';
import { folderPlace } from '../../../places/files/folder-place.ts';
import { verifyExport } from '../../../exports/verify-export.ts';
import { changeColumns, changesTable } from '../../../core/records/columns.ts';
import type { Column, Row, Table } from '../../../core/records/table.ts';
import { type FileFacts, noCounts, noNotes } from '../../../places/export/export-facts.ts';
import { exportPaths, pathIn, requireExportFolder } from '../../../places/export/export-folder.ts';
import type { Disk, Reads } from '../../../places/files/disk.ts';
import { type Manifest, type NewManifest, writeManifest } from '../../../places/export/manifest.ts';
import { publishFiles } from '../../../places/scratch/part-file.ts';
import { doubleQuoted } from '../../../lib/sql-text.ts';
import { type DiffSession, openDiffSession } from './diff-session.ts';
import { columnsIn, type DiffSide, diffSide, type DiffSides, readerIn, valueSql } from './diff-sides.ts';
import { cellOf, type FoundChanges, findChanges } from './find-changes.ts';
import { requireFreeNames } from '../reserved-names.ts';
import { openTableFile } from '../../../core/work/part-build.ts';
import type { Format } from '../../../core/formats/sink.ts';
import { blockOf } from '../../../core/records/row-block.ts';

/** Rows of a file. */
const rowsPerPart = 100_000;

/** Rows that are encoded at a time. */
const rowsPerBlock = 1000;

/** Writes a table into files under temporary names: at least one, as an empty table loads, too. */
async function writeTable(
  { files, folder, format }: { readonly files: Disk; readonly folder: string; readonly format: Format },
  table: Table,
  rows: AsyncIterable<Row[]>,
): Promise<FileFacts[]> {
  const done: FileFacts[] = [];
  const csvDialect = 'rfc4180';
  const options = { files, folder, compression: {}, escapeFormulas: false, csvDialect } as const;
  let open: Awaited<ReturnType<typeof openTableFile>> | undefined;
  const finish = async (part: NonNullable<typeof open>): Promise<void> => {
    await part.encoder.end();
    done.push({ format, table: table.name, part: done.length, rows: part.rows, ...(await part.file.finish()) });
    open = undefined;
  };
  try {
    for await (const block of blocks(rows)) {
      open ??= await openTableFile(options, { format, table, part: done.length });
      await open.encoder.write(blockOf(table.columns, block));
      open.rows += block.length;
      if (open.rows >= rowsPerPart) await finish(open);
    }
    if (done.length === 0) open ??= await openTableFile(options, { format, table, part: 0 });
    if (open !== undefined) await finish(open);
  } finally {
    await open?.file.discard();
  }
  return done;
}

async function* blocks(rows: AsyncIterable<Row[]>): AsyncGenerator<Row[], void, void> {
  for await (const some of rows) {
    for (let start = 0; start < some.length; start += rowsPerBlock) yield some.slice(start, start + rowsPerBlock);
  }
}

export interface DiffRequest {
  readonly files: Disk;
  /** The older and the newer export. */
  readonly from: string;
  readonly to: string;
  /** Where the changes go; without it they are only counted. */
  readonly out?: string | undefined;
  /** A folder for what memory does not hold, where there is no `out`. */
  readonly scratch?: string | undefined;
  readonly memoryBytes: number;
  /** Columns and paths in `extra` that alone make no update. */
  readonly ignored: readonly string[];
  readonly version: string;
}

export interface DiffSummary extends NonNullable<Manifest['diff']> {
  /** Columns that only one of them has. */
  readonly uncompared: readonly string[];
}

/**
 * Compares two complete exports and writes what differs.
 * @throws {ExportError} `damaged` when one of them is, `usage` when DuckDB cannot read them or `out` holds something else
 */
export async function diffExports(request: DiffRequest): Promise<DiffSummary> {
  const { files, out } = request;
  const sides = { a: await openSide(request.from, files), b: await openSide(request.to, files) };
  if (out === undefined)
    return inSession(request, request.scratch ?? '', (session) => counted(session, sides, request));
  requireFreeNames(
    request.to,
    [...columnsIn(sides.b, 'assets').values()].map(({ name }) => name),
    changeColumns,
    'the table changes',
  );
  await requireExportFolder(folderPlace(files, out), out);
  await requireNoManifest(files, out);
  const scratch = pathIn(out, `${exportPaths.run}/diff`);
  await files.makeFolder(pathIn(out, exportPaths.run));
  const lock = await files.takeLock(out);
  return thenCleanUp({
    work: async () => {
      await clear(files, out);
      await files.makeFolder(scratch);
      return inSession(request, scratch, (session) => written(session, sides, { ...request, out }));
    },
    // What an interrupted diff leaves, the next one removes.
    cleanUp: [() => clear(files, out), () => lock.remove()],
  });
}

async function openSide(folder: string, files: Reads): Promise<DiffSide> {
  const side = diffSide(await openFinished(folder, files));
  const { damage } = await verifyExport(files, folder);
  const [first] = damage;
  if (first === undefined) return side;
  throw new ExportError('damaged', `${folder} is damaged: ${first.path}: ${first.problem}`, {
    todo: `Nothing was compared. Every problem: ${commandLine('verify', folder)}`,
    facts: { problems: damage.length },
  });
}

async function requireNoManifest(files: Reads, out: string): Promise<void> {
  if ((await files.sizeOf(pathIn(out, exportPaths.manifest))) === undefined) return;
  throw new ExportError('usage', `${out} already holds an export or a diff`, {
    todo: 'Name another folder with --out.',
  });
}

/** All that a diff puts into its folder but the manifest. */
async function clear(files: Disk, out: string): Promise<void> {
  if ((await files.sizeOf(pathIn(out, exportPaths.manifest))) === undefined) {
    for (const format of ['parquet', 'csv']) await files.remove(pathIn(out, format));
  }
  await files.remove(pathIn(out, `${exportPaths.run}/diff`));
  await files.remove(pathIn(out, exportPaths.unfinished));
}

async function inSession<T>(
  { memoryBytes }: DiffRequest,
  scratch: string,
  work: (session: DiffSession) => Promise<T>,
): Promise<T> {
  const session = await openDiffSession(scratch, memoryBytes);
  try {
    return await work(session);
  } finally {
    session.close();
  }
}

async function counted(session: DiffSession, sides: DiffSides, { ignored }: DiffRequest): Promise<DiffSummary> {
  const changes = await findChanges(session, sides, ignored, null);
  const rows = changes.rows();
  while ((await rows.next()).done !== true);
  return summaryOf(sides, changes);
}

function summaryOf({ a, b }: DiffSides, { counts, perColumn, uncompared, columns }: FoundChanges): DiffSummary {
  // In the order of the columns, then child tables.
  const names = new Set([...columns.map(({ name }) => name), ...perColumn.keys()]);
  const named = [...names].flatMap((name) => {
    const count = perColumn.get(name);
    return count === undefined ? [] : [[name, count] as const];
  });
  return {
    from: { name: a.name, seal: a.seal },
    to: { name: b.name, seal: b.seal, rows: rowsOf(b) },
    counts,
    columns: Object.fromEntries(named),
    uncompared,
  };
}

/** The rows of each table that a load of the changes leaves. */
function rowsOf({ finished }: DiffSide): Record<string, number> {
  const tables = Object.entries(finished.manifest.tables).filter(([name]) => name !== changesTable.name);
  return Object.fromEntries(tables.map(([name, { rows }]) => [name, rows]));
}

/** The child tables of the newer export: those of the changed assets go with them. */
function childTables({ finished }: DiffSide): Table[] {
  const names = Object.keys(finished.manifest.tables).filter((name) => name !== 'assets' && name !== changesTable.name);
  return names.flatMap((name) => finished.tables.get(name) ?? []);
}

async function written(
  session: DiffSession,
  sides: DiffSides,
  request: DiffRequest & { readonly out: string },
): Promise<DiffSummary> {
  const { files, out } = request;
  const { b } = sides;
  const { startedAtMs } = b.finished.manifest;
  const changedAtUs = startedAtMs === undefined ? null : startedAtMs * 1000;
  const changes = await findChanges(session, sides, request.ignored, changedAtUs);
  const output = { files, folder: out, format: b.format };
  const table: Table = { ...changesTable, columns: changes.columns };
  const made: [Table, FileFacts[]][] = [[table, await writeTable(output, table, changes.rows())]];
  for (const child of childTables(b))
    made.push([child, await writeTable(output, child, childRows(session, changes.side, child))]);
  const facts = made.flatMap(([, some]) => some);
  await publishFiles(
    files,
    out,
    facts.map(({ path }) => path),
  );
  const { uncompared, ...diff } = summaryOf(sides, changes);
  await writeManifest(files, out, manifestOf(made, diff, request.version, startedAtMs));
  return { ...diff, uncompared };
}

async function* childRows(session: DiffSession, side: DiffSide, table: Table): AsyncGenerator<Row[], void, void> {
  const reader = readerIn(side, table.name);
  if (reader === undefined) return;
  const columns = [...columnsIn(side, table.name).values()];
  const asset = doubleQuoted(columns[0]?.name ?? '');
  const order = columns.slice(0, 2).map(({ name }) => doubleQuoted(name));
  const sql = `SELECT ${columns.map((column) => valueSql(column)).join(', ')} FROM ${reader} WHERE ${asset} IN (SELECT id FROM kept) ORDER BY ${order.join(', ')}`;
  for await (const rows of session.rows(sql)) {
    yield rows.map((row) => row.map((value, index) => cellOf(value, columns[index] as Column)));
  }
}

/** @param startedAtMs when the newer export began */
function manifestOf(
  made: readonly (readonly [Table, readonly FileFacts[]])[],
  diff: NonNullable<Manifest['diff']>,
  version: string,
  startedAtMs: number | undefined,
): NewManifest {
  const rowsOf = (files: readonly FileFacts[]): number => files.reduce((sum, { rows }) => sum + rows, 0);
  const columnsOf = (table: Table): Manifest['tables'][string]['columns'] =>
    table.columns.map(({ name, type, nullable, from }) => ({
      name,
      type,
      nullable,
      ...(from === undefined ? {} : { from }),
    }));
  return {
    kind: 'diff',
    program: { name: 'asset-export', version },
    // How its files are read; what made the exports, their own manifests say.
    job: {},
    inputs: [],
    counts: noCounts,
    calls: 0,
    credits: 0,
    parts: 0,
    tables: Object.fromEntries(
      made.map(([table, files]) => [table.name, { rows: rowsOf(files), columns: columnsOf(table) }]),
    ),
    files: made.flatMap(([, files]) => rangedFiles(files)),
    drift: [],
    notes: noNotes,
    commits: [],
    diff,
    ...(startedAtMs === undefined ? {} : { startedAtMs }),
  };
}

/** The files of a table with the range of its rows that each holds, from 1. */
function rangedFiles(files: readonly FileFacts[]): Manifest['files'] {
  let last = 0;
  return files.map((file) => {
    const first = last + 1;
    last += file.rows;
    return { ...file, first, last };
  });
}
