import { z } from 'zod';

/** Milliseconds since the start of the run that the line belongs to. */
const t = z.number();
/** How many events a merged line stands for; absent: one. */
const times = z.number().optional();
const reason = z.string();
/** Milliseconds since 1970 UTC. */
const untilMs = z.number();
/** Milliseconds that calls were held back, summed where lines are merged. */
const heldMs = z.number().optional();

const runSchema = z.object({
  kind: z.literal('run'),
  /** Counts the runs of an export from 1. */
  n: z.number(),
  /** A UUID of version 7. */
  run: z.string(),
  startMs: z.number(),
  version: z.string(),
  /** Calls in flight that it begins with. */
  concurrency: z.number(),
  idsPerCall: z.number(),
  creditsPerCall: z.number(),
  /** Where it is not the specification's. */
  dialect: z.string().optional(),
  creditsPerRun: z.number().optional(),
  creditsPerDay: z.number().optional(),
  whenSpent: z.enum(['stop', 'wait']),
  /** Ids that earlier runs fetched and did not write. */
  fetched: z.number(),
  /** Ids that were answered before this run: those in committed parts at its start. */
  written: z.number(),
});

const spanSchema = z.object({
  kind: z.literal('span'),
  t,
  ms: z.number(),
  /** Ids that the service answered. */
  ids: z.number(),
  sent: z.number(),
  answered: z.number(),
  /** Calls that ended without a definite answer. */
  failed: z.number().optional(),
  bytes: z.number(),
  /** Ids whose answers earlier runs kept. */
  replayed: z.number(),
  /** Entries, and bytes of the inputs, that the run has read by the end of the span. */
  read: z.number(),
  inputBytes: z.number(),
  /** Credits booked on the UTC day at the end of the span, by all who share the ledger. */
  booked: z.number().optional(),
  /** Answers by the time their call took: the key is the upper bound in seconds. */
  callMs: z.record(z.string(), z.number()),
  /** Milliseconds that these calls took, from request to answer: their sum, and the longest. */
  tookMs: z.number().optional(),
  longestMs: z.number().optional(),
  /** Calls in flight that are let out by the end of the span, where the run finds their number. */
  callsAtOnce: z.number().optional(),
});

const lineSchema = z.discriminatedUnion('kind', [
  runSchema,
  spanSchema,
  z.object({ kind: z.literal('paused'), t, untilMs, heldMs, reason, times }),
  z.object({ kind: z.literal('waiting'), t, untilMs, heldMs, reason, times }),
  z.object({ kind: z.literal('retry'), t, reason, attempt: z.number(), times }),
  z.object({
    kind: z.literal('service'),
    t,
    /** What the run believes of the service from now on, and why, in words. */
    state: z.enum(['working', 'slowed', 'probing', 'searching']),
    message: z.string(),
    times,
  }),
  /** A notice named this time, at which there are credits again. */
  z.object({ kind: z.literal('told'), t, untilMs }),
  z.object({ kind: z.literal('committed'), t, part: z.number(), read: z.number(), exported: z.number(), times }),
  z.object({
    kind: z.literal('end'),
    t,
    state: z.enum(['complete', 'stopped']),
    exit: z.number(),
    error: z.string().optional(),
  }),
]);

/** One line of `runs.jsonl`. */
export type RunLine = z.infer<typeof lineSchema>;
export type RunStart = z.infer<typeof runSchema>;
export type RunSpan = z.infer<typeof spanSchema>;
export type LineOf<Kind extends RunLine['kind']> = Extract<RunLine, { kind: Kind }>;
/** What follows the start of a run. */
export type OtherLine = Exclude<RunLine, RunStart>;

/** Upper bounds of the counted call times, in seconds. */
export const callBounds = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** The reset times that notices named, in milliseconds since 1970. */
export function noticeTimes(lines: readonly RunLine[]): number[] {
  return lines.flatMap((line) => (line.kind === 'told' ? [line.untilMs] : []));
}

/** The whole lines of a record; what a crash cut or damaged is left out. */
export function parseRunLines(text: string): RunLine[] {
  const lines = text.split('\n').slice(0, -1);
  return lines.flatMap((line) => {
    try {
      return lineSchema.safeParse(JSON.parse(line)).data ?? [];
    } catch {
      return [];
    }
  });
}

export function runLineText(lines: readonly RunLine[]): string {
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('');
}

/** A record is at most this large, also after a month of work. */
const mostBytes = 200_000;
const mostRuns = 100;
const mostSpans = 600;
const mostOthers = 500;
const hourMs = 3_600_000;

/** Merges neighbours and drops the oldest runs, until a record is in its bounds. Sums over a run stay the same. */
export function boundedRunLines(lines: readonly RunLine[]): RunLine[] {
  for (let scale = 1; ; scale /= 2) {
    const bounded = boundedBy(lines, scale);
    if (Buffer.byteLength(runLineText(bounded)) <= mostBytes) return bounded;
  }
}

/** Whether a record is large enough to be rewritten. */
export function isOverBounds(lines: readonly RunLine[], bytes: number): boolean {
  const counts = new Map<string, number>();
  for (const { kind } of lines) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  const most = (kind: string): number => (kind === 'run' ? mostRuns : kind === 'span' ? mostSpans : mostOthers);
  return bytes > mostBytes || [...counts].some(([kind, count]) => count > most(kind));
}

function boundedBy(lines: readonly RunLine[], scale: number): RunLine[] {
  const starts = lines.flatMap(({ kind }, index) => (kind === 'run' ? [index] : []));
  let bounded = lines.slice(starts.at(-Math.ceil(mostRuns * scale)) ?? 0);
  for (const kind of ['span', 'paused', 'waiting', 'retry', 'service', 'committed'] as const) {
    const most = (kind === 'span' ? mostSpans : mostOthers) * scale;
    const count = (): number => bounded.filter((line) => line.kind === kind).length;
    // Without an end, runs of few lines each would never come below the bound.
    for (let ms = kind === 'span' ? 2000 : hourMs; count() > most && ms < 2 ** 40; ms *= 2) {
      bounded = mergedBy(bounded, kind, ms);
    }
  }
  return bounded;
}

/** Merges the lines of a kind that lie in the same stretch of a run and give the same reason. Of states the last one stays. */
function mergedBy(lines: readonly RunLine[], kind: RunLine['kind'], ms: number): RunLine[] {
  const merged: RunLine[] = [];
  let open = new Map<string, number>();
  for (const line of lines) {
    if (line.kind === 'run') open = new Map();
    const key = line.kind === kind && 't' in line ? bucketOf(line, ms) : undefined;
    const at = key === undefined ? undefined : open.get(key);
    const first = at === undefined ? undefined : merged[at];
    if (first !== undefined && at !== undefined) merged[at] = sumOfLines(first, line);
    else {
      if (key !== undefined) open.set(key, merged.length);
      merged.push(line);
    }
  }
  return merged;
}

function bucketOf(line: OtherLine, ms: number): string {
  // Reasons are dropped only where they are so many that merging by them never ends.
  const said = 'reason' in line && ms < 2 ** 36 ? line.reason : '';
  return `${Math.floor(line.t / ms)} ${said}`;
}

function sumOfLines(a: RunLine, b: RunLine): RunLine {
  if (a.kind === 'span' && b.kind === 'span') return sumOfSpans(a, b);
  if (a.kind === 'run' || b.kind === 'run' || b.kind === 'end' || b.kind === 'told' || b.kind === 'span') return b;
  const merged = { ...b, t: a.t, times: timesOf(a) + timesOf(b) };
  if ('untilMs' in merged) return { ...merged, heldMs: heldOf(a) + heldOf(b) };
  if (a.kind !== 'committed' || merged.kind !== 'committed') return merged;
  return { ...merged, read: a.read + merged.read, exported: a.exported + merged.exported };
}

function timesOf(line: RunLine): number {
  return 'times' in line ? (line.times ?? 1) : 1;
}

function heldOf(line: RunLine): number {
  return 'heldMs' in line ? (line.heldMs ?? 0) : 0;
}

/** A span in which nothing happened. @param read entries, and bytes of the inputs, that were read before it */
export function emptySpan(t: number, { read, inputBytes } = { read: 0, inputBytes: 0 }): RunSpan {
  return { kind: 'span', t, ms: 0, ids: 0, sent: 0, answered: 0, bytes: 0, replayed: 0, read, inputBytes, callMs: {} };
}

/** One span in place of two neighbours. */
export function sumOfSpans(a: RunSpan, b: RunSpan): RunSpan {
  const callMs = { ...a.callMs };
  for (const [bound, count] of Object.entries(b.callMs)) callMs[bound] = (callMs[bound] ?? 0) + count;
  return {
    ...a,
    ...b,
    t: a.t,
    ms: b.t + b.ms - a.t,
    ids: a.ids + b.ids,
    sent: a.sent + b.sent,
    answered: a.answered + b.answered,
    failed: sumIfAny(a.failed, b.failed),
    bytes: a.bytes + b.bytes,
    replayed: a.replayed + b.replayed,
    read: Math.max(a.read, b.read),
    inputBytes: Math.max(a.inputBytes, b.inputBytes),
    callMs,
    tookMs: sumIfAny(a.tookMs, b.tookMs),
    longestMs: a.longestMs === undefined ? b.longestMs : Math.max(a.longestMs, b.longestMs ?? 0),
  };
}

function sumIfAny(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined ? b : a + (b ?? 0);
}
