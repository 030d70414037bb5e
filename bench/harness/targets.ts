import type { Findings } from './measure-all.ts';
import { type Figure, medianOf, ratioOf, sumOf } from './measure-scenarios.ts';

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

function besideBareLoop(of: string, least: number, aim: number): Target {
  return {
    what: `${of}, one thread: speed compared with the bare loop, by CPU time of whole runs`,
    reach: `≥ ${least} (aim ${aim})`,
    least,
    measured: share(of, 'bare loop', 'wholeCpuS'),
    also: (findings) => `${share(of, 'bare loop', 'cpuUs')(findings).toFixed(2)} without start-up`,
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
    what: `${name}: peak memory with many ids, divided by that with few, without the table of duplicates`,
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
        `the table takes ${mb(dedupe.few)} and ${mb(dedupe.many)} MB`
      );
    },
  };
}

/** All bounds, in the order of the tables. */
export const targets: readonly Target[] = [
  besideBareLoop('CSV', 0.7, 0.85),
  besideBareLoop('JSONL', 0.7, 0.85),
  besideBareLoop('CSV, all tables', 0.5, 0.65),
  besideBareLoop('JSONL, all tables', 0.5, 0.65),
  besideBareLoop('Parquet', 0.3, 0.5),
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
