import type { IndexOptions } from './simulated-index.ts';

/** A row of the table of what a list costs, and how often it is proven. */
export interface TableRow extends Omit<IndexOptions, 'seed' | 'direction'> {
  readonly name: string;
  /** Calls of pages: the mean without a total, and with one of rows; undefined where it is not the mean that matters. */
  readonly mean: number | undefined;
  readonly meanOfRows?: number | undefined;
  /** The least part of the lists that is proven without a total, and with one. */
  readonly proven: number;
  readonly provenOfRows?: number;
}

const crowd = { space: 1e-4, share: 1 };

// Under a total that counts dropped rows, short pages are requested once more.
export const tableRows: readonly TableRow[] = [
  { name: '30 rows', rows: 30, mean: 2, proven: 1 },
  { name: '1,000 rows', rows: 1000, mean: 2, proven: 1 },
  // Of one member the step is 1/16: 9.5 calls on average over all seeds, 2 to 17 each.
  { name: '1 row', rows: 1, mean: undefined, meanOfRows: 2, proven: 0, provenOfRows: 1 },
  { name: '5 rows', rows: 5, mean: 2.4, meanOfRows: 2, proven: 1 },
  { name: '25,000 rows', rows: 25_000, mean: 26, proven: 1 },
  { name: '90 % dropped', rows: 25_000, dropped: 0.9, mean: 27, meanOfRows: 54, proven: 1 },
  { name: '99 % dropped', rows: 25_000, dropped: 0.99, mean: 29, meanOfRows: 58, proven: 1 },
  { name: '99.9 % dropped', rows: 25_000, dropped: 0.999, mean: 73, meanOfRows: 130, proven: 0.6, provenOfRows: 0.75 },
  {
    name: '99.9 % of a half',
    rows: 25_000,
    dropped: 0.999,
    window: [0.3, 0.8],
    mean: 45,
    meanOfRows: 71,
    proven: 0.95,
  },
  {
    name: '99.9 % of the last 90 %',
    rows: 25_000,
    dropped: 0.999,
    window: [0.1, 1],
    mean: 67,
    meanOfRows: 109,
    proven: 0.8,
  },
  { name: 'all of the first 90 %', rows: 25_000, dropped: 1, window: [0, 0.9], mean: 65, meanOfRows: 68, proven: 0.95 },
  { name: 'all crowded', rows: 25_000, crowded: crowd, mean: undefined, meanOfRows: 26, proven: 0, provenOfRows: 1 },
  { name: 'all crowded, 99 % dropped', rows: 25_000, crowded: crowd, dropped: 0.99, mean: undefined, proven: 0 },
  {
    name: 'half crowded, 99 % dropped',
    rows: 250_000,
    crowded: { space: 1e-4, share: 0.5 },
    dropped: 0.99,
    mean: 279,
    meanOfRows: 557,
    proven: 1,
  },
];

export const tableMillions: readonly TableRow[] = [
  { name: '1 M rows', rows: 1_000_000, mean: 1001, proven: 1 },
  { name: '1 M, 90 % dropped', rows: 1_000_000, dropped: 0.9, mean: 1011, meanOfRows: 2022, proven: 1 },
  { name: '1 M, 99.9 % dropped', rows: 1_000_000, dropped: 0.999, mean: undefined, proven: 0 },
  { name: '1 M, 99.99 % dropped', rows: 1_000_000, dropped: 0.9999, mean: undefined, proven: 0 },
  {
    name: '1 M, a window of half',
    rows: 1_000_000,
    dropped: 1,
    window: [0.2, 0.7],
    mean: undefined,
    meanOfRows: 2023,
    proven: 0,
    provenOfRows: 1,
  },
];
