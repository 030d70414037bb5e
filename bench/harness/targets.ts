import type { StageFigure } from '../stages/stage.ts';
import type { Findings } from './measure-all.ts';
import { type Figure, medianOf, ratioOf, sumOf } from './measure-scenarios.ts';
import { onReal } from './scenarios.ts';

/** A bound, and how it is measured. */
export interface Target {
  readonly what: string;
  /** The bound, in words. */
  readonly reach: string;
  /** The least or the most that will do. */
  readonly least?: number;
  readonly most?: number;
  readonly measured: (findings: Findings) => number;
  /** Measured another way. */
  readonly also?: (findings: Findings) => string;
}

/** How fast `of` is, as a share of `beside`. */
function share(of: string, beside: string, figure: Figure): Target['measured'] {
  return ({ samples }) => ratioOf(samples, { of, beside }, figure);
}

/** @param aim is named where it is more than the least */
function besideBareLoop(of: string, beside: string, least: number, aim = least): Target {
  return {
    what: `${of}, one thread: CPU time of the bare loop, divided by ours`,
    reach: aim === least ? `≥ ${least}` : `≥ ${least} (aim ${aim})`,
    least,
    measured: share(of, beside, 'wholeCpuS'),
    also: (findings) => `${share(of, beside, 'cpuUs')(findings).toFixed(2)} without start-up`,
  };
}

/** Reading and encoding records of one table, beside DuckDB's way from the same records to the same format. */
function besideDuckDb(format: string, stage: string, most: number): Target {
  const name = onReal(`DuckDB COPY to ${format}`);
  return {
    what: `${format}, real records: parse and encode, in times of DuckDB's COPY, by CPU time`,
    reach: `≤ ${most}`,
    most,
    measured: ({ realStages, samples }) =>
      stageSum(realStages, ['parse, check, flatten', stage]) / medianOf(samples, name, 'cpuUs'),
  };
}

/** The sum of stages; NaN where none was measured. */
function stageSum(stages: readonly StageFigure[], names: readonly string[]): number {
  const some = stages.filter(({ name }) => names.includes(name));
  return some.length === 0 ? Number.NaN : some.reduce((sum, { cpuUs }) => sum + cpuUs, 0);
}

function carriedRow(name: string, most: number): Target {
  return {
    what: `${name}: a row that a night carries, CPU µs beyond the start`,
    reach: `≤ ${most}`,
    most,
    measured: ({ nights }) => nights.get(name)?.cpuUs ?? Number.NaN,
  };
}

function nightMemory(name: string): Target {
  return {
    what: `${name}, one thread: memory of a night that carries all rows, beside a run`,
    reach: '≤ 1.1',
    most: 1.1,
    measured: ({ nights }) => nights.get(name)?.memory ?? Number.NaN,
  };
}

function peak(of: string, most: number): Target {
  return {
    what: `${of}: peak memory in MB, one thread, 16 calls in flight`,
    reach: `≤ ${most}`,
    most,
    measured: ({ samples }) => medianOf(samples, of, 'peakMiB') * 1.048576,
  };
}

function idsPerSecond(reading: string, least: number): Target {
  return {
    what: `reading ids (${reading}), million per CPU second`,
    reach: `≥ ${least}`,
    least,
    measured: (findings) => 1 / (findings.reading.cpuUs.get(reading) ?? Number.NaN),
  };
}

function growth(name: string): Target {
  return {
    what: `${name}: peak memory with many ids, divided by that with few`,
    reach: '≤ 1.10',
    most: 1.1,
    measured: ({ growth: { peaks, dedupe } }) => {
      const peak = peaks.get(name);
      return peak === undefined ? Number.NaN : (peak.many - dedupe.many) / (peak.few - dedupe.few);
    },
    also: ({ growth: { peaks, dedupe }, sizes }) => {
      const mb = (mib = Number.NaN): string => Math.round(mib * 1.048576).toLocaleString('en');
      const { few, many } = peaks.get(name) ?? {};
      return (
        `${mb(few)} MB at ${sizes.grownFrom.toLocaleString('en')} ids, ${mb(many)} MB at ${sizes.grownTo.toLocaleString('en')}; ` +
        `its table ${mb(dedupe.few)} and ${mb(dedupe.many)} MB`
      );
    },
  };
}

/** All bounds, in the order of the tables. */
export const targets: readonly Target[] = [
  besideBareLoop(onReal('CSV'), onReal('bare loop'), 1, 1.2),
  besideBareLoop(onReal('JSONL'), onReal('bare loop'), 1, 1.2),
  besideBareLoop(onReal('Parquet'), onReal('bare loop'), 0.7),
  besideBareLoop('CSV', 'bare loop', 1.2),
  besideBareLoop('JSONL', 'bare loop', 1.2),
  besideBareLoop('CSV, all tables', 'bare loop', 0.95),
  besideBareLoop('JSONL, all tables', 'bare loop', 0.95),
  besideBareLoop('Parquet', 'bare loop', 0.75),
  {
    what: 'CSV at 100,000 ids: CPU time of the bare loop, divided by ours',
    reach: '≥ 0.85',
    least: 0.85,
    measured: (findings) => (findings.sizes.few === 0 ? Number.NaN : share('CSV', 'bare loop', 'fewCpuS')(findings)),
  },
  besideDuckDb('CSV', 'encode CSV', 0.3),
  besideDuckDb('JSONL', 'encode JSONL', 0.2),
  besideDuckDb('Parquet', 'encode Parquet (zstd)', 1),
  {
    what: 'CSV: CPU seconds of a run of 1,000 ids',
    reach: '≤ 0.51 (aim 0.45)',
    most: 0.51,
    measured: ({ startCpuS }) => startCpuS,
  },
  carriedRow('Parquet', 22),
  carriedRow('JSONL', 11),
  carriedRow('CSV', 11),
  nightMemory('Parquet'),
  nightMemory('JSONL'),
  {
    what: 'CSV: speed of two threads, divided by that of one, by the clock',
    reach: '≥ 1.7 where cores are idle',
    least: 1.7,
    measured: share('CSV, 2 threads', 'CSV', 'wallUs'),
    also: () => 'the load server runs on the same cores',
  },
  {
    what: 'CSV with 100 ms of latency: speed compared with none, by the clock',
    reach: '≥ 0.85',
    least: 0.85,
    measured: share('CSV, 100 ms away', 'CSV', 'wallUs'),
  },
  idsPerSecond('lines, exact check', 3),
  idsPerSecond('lines, check, duplicates', 1),
  {
    what: 'reading 10 M ids, duplicates removed (`plan`): peak memory in MB',
    reach: '≤ 350',
    most: 350,
    measured: ({ reading }) => reading.heldMiB * 1.048576,
    also: ({ sizes }) => `${sizes.idsHeld.toLocaleString('en')} ids`,
  },
  peak('CSV', 300),
  peak('JSONL', 300),
  peak('Parquet', 600),
  growth('CSV'),
  growth('Parquet'),
  {
    what: 'calls, divided by ceil(ids / ids per call), over all runs',
    reach: '= 1',
    least: 1,
    most: 1,
    measured: ({ samples }) => sumOf(samples, 'calls') / sumOf(samples, 'neededCalls'),
  },
];

/** `met`, `missed` or `not measured`. */
export function verdict({ least, most }: Target, measured: number): string {
  if (Number.isNaN(measured)) return 'not measured';
  return measured >= (least ?? -Infinity) && measured <= (most ?? Infinity) ? 'met' : 'missed';
}
