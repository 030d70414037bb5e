import { blockOf, type RowBlock } from '../records/row-block.ts';
import { assetsTable, changesTable } from '../records/columns.ts';
import type { Drift, DriftCounter } from '../records/drift.ts';
import type { RecordRows } from '../records/scan/record-rows.ts';
import type { ShapedTable } from '../records/shape-table.ts';
import type { Row } from '../records/table.ts';
import { unexportedTable } from '../records/beside-tables.ts';
import type { FetchedBatch } from './fetch-batches.ts';
import type { changeRows } from './change-rows.ts';
import { type IdRows, unexportedRow } from './id-rows.ts';

/** The rows that a batch gives to each file of its part. */
export interface FlatBatch {
  /** By table name. */
  readonly rows: ReadonlyMap<string, readonly RowBlock[]>;
  /** One cell a row: the record's text. Empty unless raw files are wanted. */
  readonly raw: readonly RowBlock[];
  readonly unexported: readonly RowBlock[];
  /** All entries. Empty unless they are kept. */
  readonly ids: readonly RowBlock[];
}

export interface FlattenOptions {
  readonly tables: readonly ShapedTable[];
  readonly raw: boolean;
  /** Makes rows of `changes`, where they are wanted. */
  readonly changeRows?: typeof changeRows | undefined;
  /** Makes rows of all entries, where they are kept. */
  readonly ids?: IdRows | undefined;
  /** When the rows that this export requests were requested, in microseconds since 1970. */
  readonly fetchedAtUs: number;
  /** Names of the inputs, by `IdEntry.source`. */
  readonly sources: readonly string[];
  /** Counts what fits no column. */
  readonly drift: DriftCounter;
}

/** Turns the records of a batch into rows. */
export function flattenBatch(batch: FetchedBatch, options: FlattenOptions): FlatBatch {
  const { raw, sources, drift, fetchedAtUs, changeRows } = options;
  const tables = options.tables.filter(({ whole }) => whole !== changesTable);
  const { origins } = batch;
  const { runs, unexported } = sortEntries(batch, sources);
  const blocks = runs.map((run) =>
    tables.map((shaped) => shapedRows(run, shaped, origins?.fetchedAtUs ?? fetchedAtUs)),
  );
  for (const run of runs) countDrift(run, drift, origins);
  const rows = new Map<string, readonly RowBlock[]>(
    tables.map(({ table }, at) => [table.name, blocks.flatMap((each) => each[at] ?? [])]),
  );
  const assets = tables.find(({ whole }) => whole === assetsTable);
  const changes = options.tables.find(({ whole }) => whole === changesTable);
  if (origins !== undefined && assets !== undefined && changes !== undefined && changeRows !== undefined) {
    const block = changeRows(origins, { assets, changes }, fetchedAtUs);
    rows.set(changes.table.name, block === undefined ? [] : [block]);
  }
  return {
    rows,
    raw: raw ? runs.map(({ rows, records }) => rows.rawRows(records)) : [],
    unexported: unexported.length === 0 ? [] : [blockOf(unexportedTable.columns, unexported)],
    ids: options.ids === undefined ? [] : [options.ids.of(batch.batch.entries)],
  };
}

// Nothing follows the loop: see docs/decisions/0022-what-does-not-help.md.
function sortEntries({ batch: { entries }, found }: FetchedBatch, sources: readonly string[]) {
  const lookups = found?.lookups;
  const unexported: Row[] = [];
  const runs: Run[] = [];
  let place = 0;
  for (let index = 0; index < entries.length; index += 1) {
    const isValid = entries.isValid(index);
    const rows = isValid ? lookups?.records(place) : undefined;
    if (lookups === undefined || rows === undefined) {
      const fate = { entry: entries.at(index), lookup: isValid ? lookups?.noRecord(place) : undefined };
      unexported.push(unexportedRow(fate, sources[entries.source(index)] ?? ''));
    } else {
      const record = lookups.index(place);
      const last = runs.at(-1);
      if (last?.rows === rows) last.records.push(record);
      else runs.push({ rows, records: [record] });
    }
    if (isValid) place += 1;
  }
  return { runs, unexported };
}

/** Records of one answer that follow one another in the input. */
interface Run {
  readonly rows: RecordRows;
  readonly records: number[];
}

/** @param times when the records were requested: by their place, or all at once */
function shapedRows(run: Run, { whole, pick }: ShapedTable, times: number | Float64Array): RowBlock {
  const { rows, records } = run;
  const timeOf = typeof times === 'number' ? () => times : (row: number) => times[records[row] ?? 0];
  return pick(rows.rows(whole, records), timeOf);
}

/** What differs was counted by the export that requested the record. */
function countDrift({ rows, records }: Run, drift: DriftCounter, origins: FetchedBatch['origins']): void {
  let at = 0;
  // One of each for all records, not one a record.
  const id = (): string => rows.id(records[at] ?? 0);
  const count = (found: Drift): void => {
    drift.add(found, id);
  };
  for (; at < records.length; at += 1) {
    if (origins?.carried[records[at] ?? 0] === 1) continue;
    rows.eachDrift(records[at] ?? 0, count);
  }
}
