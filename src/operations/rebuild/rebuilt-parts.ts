import { sumOfRefresh } from '../../base/batch-origins.ts';
import { recordsIn } from '../../base/base-rows.ts';
import { requireIntact, timesOf } from '../../base/read-base-keys.ts';
import { recordRowsOf } from '../../base/refresh-asker.ts';
import type { FinishedExport, ManifestFile } from '../../finished/finished-export.ts';
import { recordFiles } from '../../finished/records.ts';
import type { Job } from '../../job/job-schema.ts';
import { assetsTable, changesTable, fetchedAt } from '../../records/columns.ts';
import { blockOf } from '../../records/row-block.ts';
import type { ShapedTable } from '../../records/shape-table.ts';
import type { Cell } from '../../records/table.ts';
import { unexportedTable } from '../../records/unexported-table.ts';
import { noCounts } from '../../store/export-facts.ts';
import type { FileStore } from '../../store/file-store.ts';
import type { Manifest } from '../../store/manifest.ts';
import type { FlatBatch } from '../../work/flatten-batch.ts';
import type { MadePart } from '../../work/make-parts.ts';
import { committedCounts, driftOf, notesOf } from '../export-outcome.ts';
import { fileOptionsOf, openPart, type PartBuild } from '../../work/part-build.ts';
import { readerOf, tablesOf } from '../../work/tables-of.ts';

/** Records that become rows at a time. */
const blockRecords = 1000;

type SourceCommit = Manifest['commits'][number];

export interface RebuiltParts {
  readonly finished: FinishedExport;
  /** As the new export is to be. */
  readonly job: Job;
  /** How many parts of the source become one. */
  readonly join: number;
  /** When the source began, in milliseconds since 1970. */
  readonly startedAtMs: number;
  readonly files: FileStore;
  /** Local folder where files are made. */
  readonly folder: string;
  readonly stop: AbortSignal;
  readonly isNeeded: (part: number) => boolean;
  /** Told of each part of the source that is done with, made before or now. */
  readonly onRead: (commit: SourceCommit) => void;
}

/** Makes the parts of the new export in order, each from whole parts of the source. Yields each when its files are whole. */
export async function* rebuiltParts(rebuilding: RebuiltParts): AsyncGenerator<MadePart, void, void> {
  const { finished, join, isNeeded, onRead } = rebuilding;
  const { commits } = finished.manifest;
  for (let part = 0; part * join < commits.length; part += 1) {
    const sources = commits.slice(part * join, (part + 1) * join);
    if (isNeeded(part)) yield { part: await rebuiltPart(rebuilding, part, sources), cap: undefined };
    else for (const commit of sources) onRead(commit);
  }
}

async function rebuiltPart(
  rebuilding: RebuiltParts,
  part: number,
  sources: readonly SourceCommit[],
): Promise<MadePart['part']> {
  const { job, startedAtMs, files, folder, onRead } = rebuilding;
  const { formats } = job.output;
  const shaped = tablesOf(job, startedAtMs);
  const build = await openPart(part, {
    ...{ files, folder, formats, tables: shaped.map(({ table }) => table), ...fileOptionsOf(job) },
  });
  try {
    for (const commit of sources) {
      await writeSource(rebuilding, { build, shaped, part: commit.part });
      onRead(commit);
    }
    const { files: made, notes } = await build.finish();
    const told = notesOf(sources);
    return {
      part,
      counts: committedCounts(sources),
      files: made,
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

interface SourcePart {
  readonly build: PartBuild;
  readonly shaped: readonly ShapedTable[];
  readonly part: number;
}

/** Writes everything that a part of the source holds. */
async function writeSource(rebuilding: RebuiltParts, source: SourcePart): Promise<void> {
  const { finished } = rebuilding;
  const { build, shaped, part } = source;
  await writeRecords(rebuilding, source);
  for (const file of fileOf(finished, unexportedTable.name, part)) {
    await requireIntact(finished, file);
    for await (const rows of finished.rows(file)) {
      await build.write({ ...nothing, unexported: [blockOf(unexportedTable.columns, rows)] });
    }
  }
  const changes = shaped.find(({ whole }) => whole === changesTable);
  if (changes === undefined) return;
  const { name, columns } = changes.table;
  for (const file of fileOf(finished, name, part)) {
    await requireIntact(finished, file);
    for await (const rows of finished.rows(file, columns)) {
      await build.write({ ...nothing, rows: new Map([[name, [blockOf(columns, rows)]]]) });
    }
  }
}

const nothing: FlatBatch = { rows: new Map(), raw: [], unexported: [], counts: noCounts };

/** The file of a table in a part, in its best format. */
function fileOf(finished: FinishedExport, table: string, part: number): ManifestFile[] {
  return finished
    .filesOf(table)
    .filter((file) => file.part === part && file.format !== 'raw')
    .slice(0, 1);
}

async function writeRecords({ finished, job, startedAtMs, stop }: RebuiltParts, source: SourcePart): Promise<void> {
  const { build, part } = source;
  const shaped = source.shaped.filter(({ whole }) => whole !== changesTable);
  const open = readerOf(shaped);
  const hasRaw = job.output.formats.includes('raw');
  const times = await timesIn(finished, part);
  let written = 0;
  const write = async (records: readonly Buffer[]): Promise<void> => {
    stop.throwIfAborted();
    const rows = recordRowsOf(records, open);
    const places = records.map((_, place) => place);
    const first = written;
    // As the base of another export, one that does not say it would be as old as its start.
    const timeOf = (row: number): number => {
      const time = times[first + row];
      return typeof time === 'number' ? time : startedAtMs * 1000;
    };
    await build.write({
      ...nothing,
      rows: new Map(
        shaped.map(({ table, whole, pick }) => [table.name, [pick(rows.rows(whole, places), () => undefined, timeOf)]]),
      ),
      raw: hasRaw ? [rows.rawRows(places)] : [],
    });
    rows.release();
    written += records.length;
  };
  const file = recordFiles(finished).find((each) => each.part === part);
  if (file === undefined) return;
  let waiting: Buffer[] = [];
  for await (const piece of recordsIn(finished, file)) {
    for (let index = 0; index < piece.count; index += 1) {
      if (waiting.push(piece.at(index)) < blockRecords) continue;
      await write(waiting);
      waiting = [];
    }
  }
  if (waiting.length > 0) await write(waiting);
}

/** When each row of a part was requested, in microseconds since 1970; none where no table of the source says it. */
async function timesIn(finished: FinishedExport, part: number): Promise<readonly Cell[]> {
  const has = finished.tables.get(assetsTable.name)?.columns.some(({ name }) => name === fetchedAt.name);
  return has === true ? timesOf(finished, fileOf(finished, assetsTable.name, part)[0]) : [];
}
