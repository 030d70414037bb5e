import type { IdFormat } from '../load/ids.ts';

/** A way to read ids, as `bench/read-ids.ts` calls it. */
export interface Reading {
  readonly name: string;
  readonly way: string;
  readonly format: IdFormat;
}

export const readings: readonly Reading[] = [
  { name: 'lines, exact check', way: 'check', format: 'lines' },
  { name: 'lines, check, duplicates', way: 'duplicates', format: 'lines' },
  { name: 'CSV, check', way: 'check', format: 'csv' },
  { name: 'JSON array, check', way: 'check', format: 'json' },
  { name: 'bs58.decode alone', way: 'bs58', format: 'lines' },
  { name: 'a JavaScript Set alone', way: 'Set', format: 'lines' },
];
