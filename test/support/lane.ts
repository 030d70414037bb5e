/**
 * Lanes of tests, told by the name of a file. `x.test.ts` runs in the worker and starts no program; `x.whole.test.ts` starts programs,
 * databases and browsers; `x.nightly.test.ts` takes minutes. `npm run test:fast` runs the first, `npm test` the first two.
 */
export type Lane = 'fast' | 'whole' | 'nightly';

export function laneOf(path: string): Lane {
  const [, lane = 'fast'] = /\.(whole|nightly)\.test\.ts$/.exec(path) ?? [];
  return lane as Lane;
}

/** Whether all cases are asked for (`npm run test:all`). `npm test` runs a sample of the longest tests. */
export const runsAll = process.env['TEST'] === 'all';
