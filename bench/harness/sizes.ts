import { readings } from './readings.ts';

/**
 * The order within a round. What is compared stands close together, and the bare loop comes again and again, so that a
 * drift of the machine's speed hits both sides of a ratio.
 */
const wholeRound: readonly string[] = [
  ...['bare loop', 'CSV', 'bare loop', 'CSV', 'bare loop', 'CSV', 'bare loop', 'CSV', 'CSV, 100 ms away'],
  ...['bare loop', 'CSV, all tables', 'Parquet', 'DuckDB COPY', 'script people write'],
  ...['bare loop', 'JSONL', 'bare loop', 'JSONL', 'bare loop', 'JSONL', 'bare loop', 'JSONL', 'bare loop'],
  ...['JSONL, all tables', 'JSONL and raw', 'CSV and raw'],
  // By the clock both cores are needed, and somebody else's work on one of them is a tenth: twice.
  ...['CSV, small parts', 'CSV, 2 threads', 'CSV, 2 threads', 'CSV, small parts'],
  ...['bare loop', 'two bare loops at once', 'two bare loops at once', 'bare loop'],
];

/** How much is measured. */
export interface Sizes {
  readonly rounds: number;
  /** Names of scenarios, in their order. */
  readonly round: readonly string[];
  /** Each scenario runs at both: what an asset takes is the difference, in which the start is not. 0: no run. */
  readonly few: number;
  readonly many: number;
  /** The same with small parts: every thread has started by then, and two are compared by the clock, which needs more time. */
  readonly fewInSmallParts: number;
  readonly manyInSmallParts: number;
  readonly idsPerPart: number;
  /** Different answers that the load server has, of 1,000 records each. */
  readonly bodies: number;
  /** Records that a stage takes in a round. */
  readonly stageRecords: number;
  /** Names of the ways in which ids are read. */
  readonly readings: readonly string[];
  /** Ids that are read for speed, for memory, and to pass the limit of a JavaScript Set (0: not). */
  readonly idsRead: number;
  readonly idsHeld: number;
  readonly idsBeyondSet: number;
  /** Names of the scenarios whose memory is compared, and their ids. */
  readonly grown: readonly string[];
  readonly grownFrom: number;
  readonly grownTo: number;
  /** How many exports of the smaller size, and of the larger: the medians of their peaks count. */
  readonly smallExports: number;
  readonly largeExports: number;
  /** How often it is read what duplicates take, at both sizes: the median counts. */
  readonly dedupeReadings: number;
  /** Is the grown export made a second time, killed on its way, and compared byte for byte? */
  readonly again: boolean;
}

export const usualSizes: Sizes = {
  rounds: 5,
  round: wholeRound,
  few: 20_000,
  many: 400_000,
  fewInSmallParts: 100_000,
  manyInSmallParts: 900_000,
  idsPerPart: 20_000,
  bodies: 20,
  stageRecords: 20_000,
  readings: readings.map(({ name }) => name),
  idsRead: 3_000_000,
  idsHeld: 10_000_000,
  idsBeyondSet: 17_000_000,
  grown: ['CSV', 'Parquet'],
  grownFrom: 100_000,
  grownTo: 400_000,
  smallExports: 5,
  largeExports: 3,
  dedupeReadings: 3,
  again: false,
};

export const longSizes: Sizes = {
  ...usualSizes,
  grownTo: 5_000_000,
  again: true,
};

/** Says nothing about speed: shows that everything runs. */
export const tinySizes: Sizes = {
  rounds: 1,
  round: ['bare loop', 'CSV', 'DuckDB COPY', 'script people write'],
  few: 0,
  many: 2000,
  fewInSmallParts: 0,
  manyInSmallParts: 2000,
  idsPerPart: 2000,
  bodies: 2,
  stageRecords: 2000,
  readings: ['lines, check, duplicates'],
  idsRead: 50_000,
  idsHeld: 50_000,
  idsBeyondSet: 0,
  grown: ['CSV'],
  grownFrom: 2000,
  grownTo: 5000,
  smallExports: 1,
  largeExports: 1,
  dedupeReadings: 1,
  again: true,
};
