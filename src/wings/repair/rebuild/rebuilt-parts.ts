import { sumOfRefresh } from '../../../core/work/batch-origins.ts';
import { recordsIn } from '../../nights/index.ts';
import { requireIntact, timeFilesOf, timesOf } from '../../nights/index.ts';
import { recordRowsOf } from '../../../exports/row-batch.ts';
import type { FinishedExport, ManifestFile } from '../../../exports/finished-export.ts';
import { recordFiles } from '../../../exports/records.ts';
import type { Job } from '../../../core/job/job-schema.ts';
import { assetsTable, changedAt, changesTable, fetchedAt } from '../../../core/records/columns.ts';
import type { RowBlock } from '../../../core/records/row-block.ts';
import { type ShapedTable, readyProver } from '../../../core/records/shape-table.ts';
import type { Table } from '../../../core/records/table.ts';
import { idsTable, unexportedTable } from '../../../core/records/id-tables.ts';
import type { PartsContext } from '../../../core/work/parts-context.ts';
import type { Begun } from '../../../places/export/export-facts.ts';
import type { Manifest } from '../../../places/export/manifest.ts';
import type { FlatBatch } from '../../../core/work/flatten-batch.ts';
import type { MadePart } from '../../../core/work/make-parts.ts';
import { committedCounts, driftOf, notesOf } from '../../../places/scratch/commit-sums.ts';
import { inThousands } from '../rebuild-files.ts';
import { exportPaths, pathIn } from '../../../places/export/export-folder.ts';
import { SortedRecords, type SortOrder, type TimedRecord } from './sorted-records.ts';
import { fileOptionsOf, openPart } from '../../../core/work/part-build.ts';
import { readerOf, tablesOf } from '../../../core/work/tables-of.ts';

type SourceCommit = Manifest['commits'][number];

export interface RebuiltParts extends Pick<PartsContext, 'files' | 'stop'> {
  readonly finished: FinishedExport;
  /** As the new export is to be. */
  readonly job: Job;
  /** When the source began, and how the new export is written. */
  readonly begun: Begun;
  /** How many parts of the source become one. */
  readonly join: number;
  /** How assets are to be sorted; absent: as in the source. */
  readonly sort?: SortOrder | undefined;
  /** Local folder where files are made. */
  readonly folder: string;
  readonly isNeeded: (part: number) => boolean;
  /** Told of each part of the source that is done with, made before or now. */
  readonly onRead: (commit: SourceCommit) => void;
}

/** Makes the parts of the new export in order, each from whole parts of the source. Yields each when its files are whole. */
export async function* rebuiltParts(rebuilding: RebuiltParts): AsyncGenerator<MadePart, void, void> {
  const { finished, job, begun, join, isNeeded, onRead } = rebuilding;
  const { commits } = finished.manifest;
  const shaped = tablesOf(job, begun);
  await readyProver(job.output);
  const files = sourceFiles(finished);
  const sorted = await sortedRecords(rebuilding, { finished, shaped, files });
  const source = { finished, shaped, files, sorted };
  try {
    for (let part = 0; part * join < commits.length; part += 1) {
      const sources = commits.slice(part * join, (part + 1) * join);
      if (isNeeded(part)) yield { part: await rebuiltPart(rebuilding, source, part, sources), cap: undefined };
      else for (const commit of sources) await skipCommit(source, commit, onRead);
    }
  } finally {
    await sorted?.close();
  }
}

/** All records of the source in their new order. */
async function sortedRecords({ sort, finished, files, folder, stop }: RebuiltParts, source: Source) {
  if (sort === undefined) return undefined;
  const scratch = pathIn(folder, exportPaths.sorting);
  // What a rebuild that was killed left.
  await files.remove(scratch);
  await files.makeFolder(scratch);
  const sorted = await SortedRecords.open(sort, files, scratch);
  try {
    for (const { part } of finished.manifest.commits) {
      for await (const records of timedRecords(source, part)) {
        stop.throwIfAborted();
        const rows = recordRowsOf(records.map(({ record }) => record));
        await sorted.add(
          records,
          rows.rows(
            assetsTable,
            records.map((_, place) => place),
          ),
        );
        rows.release();
      }
    }
    return sorted;
  } catch (error) {
    await sorted.close();
    throw error;
  }
}

/** A part that is made already: its records are not those of another one. */
async function skipCommit(source: Source, commit: SourceCommit, onRead: RebuiltParts['onRead']): Promise<void> {
  const { sorted } = source;
  if (sorted !== undefined)
    for (let left = rowsIn(source, commit.part); left > 0; left -= batchRecords)
      await sorted.take(Math.min(left, batchRecords));
  onRead(commit);
}

/** The source, and what is made of it. */
interface Source {
  readonly finished: FinishedExport;
  readonly shaped: readonly ShapedTable[];
  readonly files: SourceFiles;
  readonly sorted?: SortedRecords | undefined;
}

/** The best file of each part. */
interface SourceFiles {
  readonly records: ReadonlyMap<number, ManifestFile>;
  /** Of a table, not as raw. */
  readonly rows: (table: string) => ReadonlyMap<number, ManifestFile>;
  /** Those that say when each row was requested. */
  readonly times: ReadonlyMap<number, ManifestFile>;
}

/** Found once: an export may have thousands of parts. */
function sourceFiles(finished: FinishedExport): SourceFiles {
  const byPart = (files: readonly ManifestFile[]): Map<number, ManifestFile> =>
    new Map(files.toReversed().map((file) => [file.part, file]));
  const rowsOf = (table: string) => byPart(finished.filesOf(table).filter(({ format }) => format !== 'raw'));
  const rows = new Map([...finished.tables.keys()].map((table) => [table, rowsOf(table)]));
  return {
    records: byPart(recordFiles(finished)),
    rows: (table) => rows.get(table) ?? new Map(),
    times: timeFilesOf(finished),
  };
}

async function rebuiltPart(
  { job, files, folder, stop, onRead }: RebuiltParts,
  source: Source,
  part: number,
  sources: readonly SourceCommit[],
): Promise<MadePart['part']> {
  const { formats, keepIds } = job.output;
  const tables = source.shaped.map(({ table }) => table);
  const options = fileOptionsOf(job);
  const build = await openPart(part, { files, folder, formats, tables, keepIds, ...options });
  try {
    for (const commit of sources) {
      for await (const batch of batchesIn(source, commit.part, formats.includes('raw'))) {
        stop.throwIfAborted();
        await build.write(batch);
      }
      onRead(commit);
    }
    const { notes, ...built } = await build.finish();
    const told = notesOf(sources);
    return {
      part,
      counts: committedCounts(sources),
      ...built,
      drift: driftOf(sources),
      // A cell of a table that was read holds what replaced the surrogate.
      notes: { ...told, ...notes, replacedSurrogates: Math.max(told.replacedSurrogates, notes.replacedSurrogates) },
      ...(sources.some(({ refresh }) => refresh !== undefined)
        ? { refresh: sumOfRefresh(sources.map(({ refresh }) => refresh)) }
        : {}),
    };
  } catch (error) {
    await build.discard();
    throw error;
  }
}

/** Everything that a part of the source holds. A batch is valid until the next one is requested. */
async function* batchesIn(source: Source, part: number, hasRaw: boolean): AsyncGenerator<FlatBatch, void, void> {
  yield* recordBatches(source, part, hasRaw);
  for await (const block of blocksOf(source, unexportedTable, part)) yield { ...nothing, unexported: [block] };
  for await (const block of blocksOf(source, idsTable, part)) yield { ...nothing, ids: [block] };
  const changes = source.shaped.find(({ whole }) => whole === changesTable)?.table;
  if (changes === undefined) return;
  const stamp = stampFor(source.finished, changes);
  for await (const block of blocksOf(source, changes, part))
    yield { ...nothing, rows: new Map([[changes.name, [stamp(block)]]]) };
}

/** Fills the time of changes that do not say it: it is the start of the export that found them. */
function stampFor({ tables, manifest }: FinishedExport, { name, columns }: Table): (block: RowBlock) => RowBlock {
  const place = columns.findIndex((column) => column.name === changedAt.name);
  const has = tables.get(name)?.columns.some((column) => column.name === changedAt.name) === true;
  if (place < 0 || has || manifest.startedAtMs === undefined) return (block) => block;
  const stamp = Buffer.from(String(manifest.startedAtMs * 1000));
  return (block) => {
    const from = block.from.slice();
    const length = block.length.slice();
    for (let cell = place; cell < length.length; cell += block.width) {
      from[cell] = ~block.made.length;
      length[cell] = stamp.length;
    }
    return { ...block, from, length, made: Buffer.concat([block.made, stamp]) };
  };
}

const nothing: FlatBatch = { rows: new Map(), raw: [], unexported: [], ids: [] };

/** The rows of a table of the source as they are. */
async function* blocksOf({ finished, files }: Source, { name, columns }: Table, part: number) {
  const file = files.rows(name).get(part);
  if (file === undefined) return;
  await requireIntact(finished, file);
  yield* finished.blocks(file, columns);
}

/** The rows of tables, and the raw lines, that are made of records. */
async function* recordBatches(source: Source, part: number, hasRaw: boolean): AsyncGenerator<FlatBatch, void, void> {
  const { sorted } = source;
  const shaped = source.shaped.filter(({ whole }) => whole !== changesTable);
  const open = readerOf(shaped);
  for await (const records of sorted === undefined
    ? timedRecords(source, part)
    : takenFrom(sorted, rowsIn(source, part))) {
    const rows = recordRowsOf(
      records.map(({ record }) => record),
      open,
    );
    const places = records.map((_, place) => place);
    const timeOfRow = (row: number): number | undefined => records[row]?.timeUs;
    yield {
      ...nothing,
      rows: new Map(shaped.map(({ table, whole, pick }) => [table.name, [pick(rows.rows(whole, places), timeOfRow)]])),
      raw: hasRaw ? [rows.rawRows(places)] : [],
    };
    rows.release();
  }
}

/** The records of a part of the source in its order, some at a time. They are valid until the next ones are requested. */
async function* timedRecords(source: Source, part: number): AsyncGenerator<TimedRecord[], void, void> {
  const { finished, files } = source;
  const file = files.records.get(part);
  if (file === undefined) return;
  const timeOf = await timesIn(source, part);
  let first = 0;
  for await (const records of inThousands(recordsOf(finished, file))) {
    const start = first;
    first += records.length;
    yield records.map((record, row) => ({ record, timeUs: timeOf(start + row) }));
  }
}

/** So many records that a part of the source has: in a sorted export the part has as many, but others. */
function rowsIn({ files }: Source, part: number): number {
  return files.records.get(part)?.rows ?? 0;
}

/** Records that go to encoders at a time. */
const batchRecords = 1000;

async function* takenFrom(sorted: SortedRecords, rows: number): AsyncGenerator<TimedRecord[], void, void> {
  for (let left = rows; left > 0; ) {
    const records = await sorted.take(Math.min(left, batchRecords));
    if (records.length === 0) throw new Error(`${left} records are missing in their order`);
    left -= records.length;
    yield records;
  }
}

/** Records are made as they are taken. */
async function* recordsOf(finished: FinishedExport, file: ManifestFile): AsyncGenerator<Iterable<Buffer>, void, void> {
  for await (const piece of recordsIn(finished, file)) {
    yield (function* () {
      for (let index = 0; index < piece.count; index += 1) yield piece.at(index);
    })();
  }
}

/**
 * When each row of a part was requested, in microseconds since 1970. As with the base of another export, a row that does not say
 * it is as old as the export's start.
 */
async function timesIn({ finished, files }: Source, part: number): Promise<(row: number) => number> {
  const has = finished.tables.get(assetsTable.name)?.columns.some(({ name }) => name === fetchedAt.name);
  const times = has === true ? await timesOf(finished, files.times.get(part)) : [];
  const startedAtUs = (finished.manifest.startedAtMs ?? 0) * 1000;
  return (row) => {
    const time = times[row];
    return typeof time === 'number' ? time : startedAtUs;
  };
}
