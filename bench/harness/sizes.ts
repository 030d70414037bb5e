import { onReal } from './scenarios.ts';

/**
 * The order within a round. What is compared stands close together, and the bare loop comes again and again, so that a
 * drift of the machine's speed hits both sides of a ratio.
 */
const wholeRound: readonly string[] = [
  ...['bare loop', 'CSV', 'CSV, 100 ms away', 'bare loop', 'CSV, all tables'],
  ...['JSONL', 'bare loop', 'JSONL, all tables', 'Parquet', 'DuckDB COPY to Parquet'],
  ...['bare loop', 'CSV', 'CSV, 2 threads', 'bare loop'],
  ...['bare loop', 'CSV', 'JSONL', 'bare loop', 'Parquet'].map(onReal),
  ...['DuckDB COPY to CSV', 'DuckDB COPY to JSONL', 'DuckDB COPY to Parquet'].map(onReal),
];

/** How much is measured. */
export interface Sizes {
  readonly rounds: number;
  /** Names of scenarios, in their order. */
  readonly round: readonly string[];
  /** Each scenario runs at both: what an asset takes is the difference, in which the start is not. 0: no run. */
  readonly few: number;
  readonly many: number;
  /** Different answers that the load server has, of 1,000 records each. */
  readonly bodies: number;
  /** Records that a stage takes in a round. */
  readonly stageRecords: number;
  /** Ids that are read for speed, and for memory. */
  readonly idsRead: number;
  readonly idsHeld: number;
  /** Names of the scenarios whose memory is compared, and their ids. */
  readonly grown: readonly string[];
  readonly grownFrom: number;
  readonly grownTo: number;
  /** Names of the scenarios whose rows a night carries; each night has `few` and `many` rows. */
  readonly carried: readonly string[];
  /** Ids of a run that is little but its start. */
  readonly started: number;
}

export const usualSizes: Sizes = {
  rounds: 5,
  round: wholeRound,
  few: 100_000,
  many: 500_000,
  bodies: 20,
  stageRecords: 20_000,
  idsRead: 3_000_000,
  idsHeld: 10_000_000,
  grown: ['CSV', 'Parquet'],
  grownFrom: 100_000,
  grownTo: 2_000_000,
  carried: ['CSV', 'JSONL', 'Parquet'],
  started: 1000,
};

/** Says nothing about speed: shows that everything runs. */
export const tinySizes: Sizes = {
  rounds: 1,
  round: ['bare loop', 'CSV', ...['bare loop', 'DuckDB COPY to JSONL'].map(onReal)],
  few: 0,
  many: 2000,
  bodies: 2,
  stageRecords: 2000,
  idsRead: 50_000,
  idsHeld: 50_000,
  grown: ['CSV'],
  grownFrom: 2000,
  grownTo: 5000,
  carried: ['CSV'],
  started: 1000,
};
