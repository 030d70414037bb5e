import type { RecordRows } from '../records/scan/record-rows.ts';

/** Numbers of an export with a base, summed over its batches. Classes are those of the job, the last takes what fits none. */
export interface RefreshCounts {
  /** By class: rows of the base that were requested, and those that differ now or are gone. */
  readonly asked: number[];
  readonly changed: number[];
  /** Rows of the base that the service does not know now. */
  readonly lost: number;
}

/** What differs between a row of the base and now. */
export interface AssetChange {
  readonly op: 'insert' | 'update' | 'delete';
  readonly reason?: 'missing' | 'failed';
  /** The place of the id in the batch. */
  readonly place: number;
  /** The record in `BatchOrigins.now`, and in `BatchOrigins.before`; -1 where there is none. */
  readonly record: number;
  readonly old: number;
  /** Of an update: places of columns of `assets`. */
  readonly columns: readonly number[];
}

/** Where the rows of a batch come from. */
export interface BatchOrigins {
  /** By the record's place in the answer: when it was requested, in microseconds since 1970. */
  readonly fetchedAtUs: Float64Array;
  /** By the record's place in the answer: 1 for those taken from the base. */
  readonly carried: Uint8Array;
  readonly now: RecordRows;
  /** Rows of the base of ids that were requested. */
  readonly before: RecordRows;
  readonly changes: readonly AssetChange[];
  readonly counts: RefreshCounts;
}

/** Adds numbers up. Those of a part without any count as zeros. */
export function sumOfRefresh(all: Iterable<RefreshCounts | undefined>): RefreshCounts {
  const asked: number[] = [];
  const changed: number[] = [];
  let lost = 0;
  for (const each of all) {
    if (each === undefined) continue;
    addTo(asked, each.asked);
    addTo(changed, each.changed);
    lost += each.lost;
  }
  return { asked, changed, lost };
}

function addTo(sums: number[], numbers: readonly number[]): void {
  for (const [at, number] of numbers.entries()) sums[at] = (sums[at] ?? 0) + number;
}
