import { childRows } from '../assets/child-tables.ts';
import type { Drift, DriftCounter } from '../assets/drift.ts';
import { flattenAsset } from '../assets/flatten-asset.ts';
import { rawLine } from '../assets/raw-line.ts';
import type { ShapedTable } from '../assets/shape-table.ts';
import type { Row, Table } from '../assets/table.ts';
import { type Counts, noCounts } from '../store/export-facts.ts';
import type { PartSlice } from './part-slices.ts';
import { unexportedOutcome, unexportedRow } from './unexported.ts';

/** The rows that a slice gives to each file of its part. */
export interface FlatSlice {
  readonly part: number;
  /** By table name. */
  readonly rows: ReadonlyMap<string, readonly Row[]>;
  /** One cell a row: the record's text. Empty unless raw files are wanted. */
  readonly raw: readonly Row[];
  readonly unexported: readonly Row[];
  readonly counts: Counts;
}

export interface FlattenOptions {
  readonly tables: readonly ShapedTable[];
  /** Lists whose elements are checked for drift only. */
  readonly lists: readonly Table[];
  readonly raw: boolean;
  /** Names of the inputs, by `IdEntry.source`. */
  readonly sources: readonly string[];
  /** Counts what fits no column. */
  readonly drift: DriftCounter;
}

/** Turns the records of a slice into rows. */
export function flattenSlice(slice: PartSlice, { tables, lists, raw, sources, drift }: FlattenOptions): FlatSlice {
  const rows = new Map<string, Row[]>(tables.map(({ table }) => [table.name, []]));
  const rawRows: Row[] = [];
  const unexported: Row[] = [];
  const counts: Counts = { ...noCounts };
  for (const fate of slice.fates) {
    counts.read += 1;
    const outcome = unexportedOutcome(fate);
    if (outcome !== undefined || fate.lookup?.kind !== 'found') {
      const known = outcome ?? 'failed';
      counts[known] += 1;
      unexported.push(unexportedRow(fate, known, sources[fate.entry.source] ?? ''));
      continue;
    }
    counts.exported += 1;
    const { record } = fate.lookup;
    const flat = flattenAsset(record.value);
    const moreDrift: Drift[] = [];
    for (const { whole, pick } of tables) {
      const target = rows.get(whole.name) ?? [];
      if (whole.name === 'assets') target.push(pick(flat.row, moreDrift));
      else for (const row of childRows(whole, record.value, moreDrift)) target.push(pick(row, moreDrift));
    }
    for (const list of lists) childRows(list, record.value, moreDrift);
    drift.add(record.id, [...flat.drift, ...moreDrift]);
    if (raw) rawRows.push([rawLine(record.text)]);
  }
  return { part: slice.part, rows, raw: rawRows, unexported, counts };
}
