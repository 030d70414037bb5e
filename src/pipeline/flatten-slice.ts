import { blockOf, type RowBlock } from '../assets/row-block.ts';
import type { Drift, DriftCounter } from '../assets/drift.ts';
import type { RecordRows } from '../assets/scan/record-rows.ts';
import type { ShapedTable } from '../assets/shape-table.ts';
import type { Row } from '../assets/table.ts';
import { type Counts, noCounts } from '../store/export-facts.ts';
import type { PartSlice } from './part-slices.ts';
import { unexportedOutcome, unexportedRow, unexportedTable } from './unexported.ts';

/** The rows that a slice gives to each file of its part. */
export interface FlatSlice {
  readonly part: number;
  /** By table name. */
  readonly rows: ReadonlyMap<string, readonly RowBlock[]>;
  /** One cell a row: the record's text. Empty unless raw files are wanted. */
  readonly raw: readonly RowBlock[];
  readonly unexported: readonly RowBlock[];
  readonly counts: Counts;
}

export interface FlattenOptions {
  readonly tables: readonly ShapedTable[];
  readonly raw: boolean;
  /** Names of the inputs, by `IdEntry.source`. */
  readonly sources: readonly string[];
  /** Counts what fits no column. */
  readonly drift: DriftCounter;
}

/** Turns the records of a slice into rows. */
export function flattenSlice(slice: PartSlice, { tables, raw, sources, drift }: FlattenOptions): FlatSlice {
  const { runs, unexported, counts } = sortEntries(slice, sources);
  const blocks = runs.map((run) => tables.map((shaped) => shapedRows(run, shaped)));
  for (const [at, run] of runs.entries()) countDrift(run, blocks[at] ?? [], drift);
  return {
    part: slice.part,
    rows: new Map(tables.map(({ table }, at) => [table.name, blocks.flatMap((each) => each[at]?.block ?? [])])),
    raw: raw ? runs.map(({ rows, records }) => rows.rawRows(records)) : [],
    unexported: unexported.length === 0 ? [] : [blockOf(unexportedTable.columns, unexported)],
    counts,
  };
}

interface SortedEntries {
  readonly runs: readonly Run[];
  readonly unexported: readonly Row[];
  readonly counts: Counts;
}

// Nothing follows the loop: see "What does not help" in docs/performance.md.
function sortEntries({ entries, lookups }: PartSlice, sources: readonly string[]): SortedEntries {
  const unexported: Row[] = [];
  const counts: Counts = { ...noCounts };
  const runs: Run[] = [];
  let next = 0;
  for (const entry of entries) {
    counts.read += 1;
    const lookup = entry.sighting === 'valid' ? lookups[next++] : undefined;
    if (lookup?.kind !== 'found') {
      const fate = { entry, lookup };
      counts[unexportedOutcome(fate)] += 1;
      unexported.push(unexportedRow(fate, sources[entry.source] ?? ''));
      continue;
    }
    counts.exported += 1;
    const { rows, index } = lookup;
    const last = runs.at(-1);
    if (last?.rows === rows) {
      last.records.push(index);
      last.ids.push(entry.text);
    } else runs.push({ rows, records: [index], ids: [entry.text] });
  }
  return { runs, unexported, counts };
}

/** Records of one answer that follow one another in the input. */
interface Run {
  readonly rows: RecordRows;
  readonly records: number[];
  readonly ids: string[];
}

interface ShapedRows {
  readonly block: RowBlock;
  /** What the shape of the table moved to `extra`, by the record's place in the run. */
  readonly misfits: readonly { readonly at: number; readonly drift: Drift }[];
}

function shapedRows({ rows, records }: Run, { whole, pick }: ShapedTable): ShapedRows {
  const misfits: { at: number; drift: Drift }[] = [];
  const block = pick(rows.rows(whole, records), (at, drift) => misfits.push({ at, drift }));
  return { block, misfits };
}

function countDrift({ rows, records, ids }: Run, shaped: readonly ShapedRows[], drift: DriftCounter): void {
  const misfits = shaped.flatMap((each) => each.misfits);
  for (let at = 0; at < records.length; at += 1) {
    const id = ids[at] ?? '';
    const found = rows.drifts(records[at] ?? 0);
    const moved = misfits.length === 0 ? [] : misfits.filter((misfit) => misfit.at === at);
    if (found.length > 0) drift.add(id, found);
    if (moved.length > 0)
      drift.add(
        id,
        moved.map((misfit) => misfit.drift),
      );
  }
}
