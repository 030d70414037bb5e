import { utcDay } from '../../../lib/clock.ts';
import { committedCounts } from '../../../places/scratch/commit-sums.ts';
import type { Counts, Spent } from '../../../places/export/export-facts.ts';
import type { ExportStanding, UnfinishedStanding } from './export-standing.ts';
import type { Manifest } from '../../../places/export/manifest.ts';
import type { RunLine, RunSpan, RunStart } from './run-lines.ts';

type LineOf<Kind extends RunLine['kind']> = Extract<RunLine, { kind: Kind }>;

/** What the history of an export says of one of its runs. Moments are milliseconds since 1970 UTC. */
export interface RecordedRun {
  readonly start: RunStart;
  readonly lines: readonly Exclude<RunLine, RunStart>[];
  readonly spans: readonly RunSpan[];
  /** How it ended; undefined for a live run and for one that was killed. */
  readonly end: LineOf<'end'> | undefined;
  /** The end of its last span: of a killed run that is all there is. */
  readonly endedMs: number;
  /** Ids that the service answered, and those whose answers earlier runs had kept. */
  readonly ids: number;
  readonly replayed: number;
  readonly sent: number;
  readonly answered: number;
  readonly bytes: number;
  /** Calls in flight that it lets out, where it finds their number. */
  readonly callsAtOnce: number | undefined;
  /** Entries that it has read. */
  readonly read: number;
  /** Attempts after the first of their call. */
  readonly retries: number;
  /** When all calls were paused or waited for credits. */
  readonly pauses: readonly RecordedPause[];
  /** Until when it waits for credits; undefined when it never did. */
  readonly waitingUntilMs: number | undefined;
  /** What it believes of the service, and why, in words: empty while the service works. */
  readonly service: { readonly state: LineOf<'service'>['state']; readonly message: string };
  /** The error that it ended with; without an end, the last reason for a retry or a pause. */
  readonly lastError: string | undefined;
  readonly lastErrorMs: number;
}

/** A time in which no call was sent, in milliseconds since the run began. */
export interface RecordedPause {
  readonly kind: 'paused' | 'waiting';
  readonly t: number;
  readonly untilT: number;
  readonly reason: string;
  /** How many pauses it stands for. */
  readonly times: number;
}

/** The runs of a record, in their order. */
export function runsOf(lines: readonly RunLine[]): RecordedRun[] {
  const starts = lines.flatMap((line, at) => (line.kind === 'run' ? [{ line, at }] : []));
  return starts.map(({ line, at }, index) => {
    const own = lines.slice(at + 1, starts[index + 1]?.at);
    return runOf(
      line,
      own.filter((each) => each.kind !== 'run'),
    );
  });
}

/** The run that began last; undefined when there is none. */
export function lastRunOf(lines: readonly RunLine[]): RecordedRun | undefined {
  return runsOf(lines).at(-1);
}

function runOf(start: RunStart, lines: RecordedRun['lines']): RecordedRun {
  const of = <Kind extends RunLine['kind']>(kind: Kind): LineOf<Kind>[] =>
    lines.filter((line): line is typeof line & LineOf<Kind> => line.kind === kind);
  const spans = of('span');
  const sum = (name: 'ids' | 'replayed' | 'sent' | 'answered' | 'bytes'): number =>
    spans.reduce((total, span) => total + span[name], 0);
  const end = of('end').at(-1);
  const trouble = lines.findLast((line) => 'reason' in line);
  // A notice may be delivered when the run is over.
  const ends = lines.map((line) => (line.kind === 'told' ? 0 : line.t + (line.kind === 'span' ? line.ms : 0)));
  return {
    start,
    lines,
    spans,
    end,
    endedMs: start.startMs + ends.reduce((latest, t) => Math.max(latest, t), 0),
    ids: sum('ids'),
    replayed: sum('replayed'),
    sent: sum('sent'),
    answered: sum('answered'),
    bytes: sum('bytes'),
    callsAtOnce: spans.findLast((span) => span.callsAtOnce !== undefined)?.callsAtOnce,
    read: spans.reduce((most, { read }) => Math.max(most, read), 0),
    retries: of('retry').reduce((total, { times = 1 }) => total + times, 0),
    pauses: lines.flatMap((line) =>
      line.kind === 'paused' || line.kind === 'waiting'
        ? [{ kind: line.kind, t: line.t, untilT: untilOf(line, start), reason: line.reason, times: line.times ?? 1 }]
        : [],
    ),
    waitingUntilMs: of('waiting').at(-1)?.untilMs,
    service: of('service').at(-1) ?? { state: 'working', message: '' },
    lastError: end === undefined ? trouble?.reason : end.error,
    lastErrorMs: start.startMs + ((end ?? trouble)?.t ?? 0),
  };
}

function untilOf({ t, untilMs, heldMs }: LineOf<'paused' | 'waiting'>, { startMs }: RunStart): number {
  return heldMs === undefined ? untilMs - startMs : t + heldMs;
}

/** How long a run worked, in milliseconds. */
export function elapsedMsOf({ start, endedMs }: RecordedRun): number {
  return endedMs - start.startMs;
}

/** Ids a second over the whole of some runs. */
export function meanIdsPerSecond(...runs: readonly RecordedRun[]): number {
  const ms = runs.reduce((sum, run) => sum + elapsedMsOf(run), 0);
  return ms === 0 ? 0 : (runs.reduce((sum, { ids }) => sum + ids, 0) / ms) * 1000;
}

/** Entries whose ids were requested. */
export function askedIds({ exported, missing, failed }: Counts): number {
  return exported + missing + failed;
}

/** Ids whose answers are kept and lie in no committed part. A run that was killed may have kept more than it recorded: the next one finds it. */
export function fetchedNow({
  before,
  replayed,
  ids,
  written,
}: {
  /** Ids that were fetched and not written when the run began, as far as its record knew, and those that it found kept. */
  readonly before: number;
  readonly replayed: number;
  /** Ids that the service has answered in the run. */
  readonly ids: number;
  /** Requested ids in parts that were committed since it began. */
  readonly written: number;
}): number {
  return Math.max(0, Math.max(before, replayed) + ids - written);
}

/** The same after the last run of a record. @param counts those of the committed parts now */
export function fetchedIds(lines: readonly RunLine[], counts: Counts): number {
  const last = lastRunOf(lines);
  if (last === undefined) return 0;
  const { start, replayed, ids } = last;
  return fetchedNow({ before: start.fetched, replayed, ids, written: askedIds(counts) - start.written });
}

/** Limits in credits; those that are absent do not hold. */
export interface CreditLimits {
  readonly creditsPerRun?: number | undefined;
  readonly creditsPerDay?: number | undefined;
}

/** What the tightest limit leaves; undefined without a limit. @param spent credits of the UTC day in its ledger, and of a run that works */
export function creditsLeftOf(
  { creditsPerDay, creditsPerRun }: CreditLimits,
  spent: { readonly today: number; readonly ofRun?: number | undefined },
): number | undefined {
  const limits = [
    ...(creditsPerDay === undefined ? [] : [creditsPerDay - spent.today]),
    // The next run may spend as much again.
    ...(creditsPerRun === undefined || spent.ofRun === undefined ? [] : [creditsPerRun - spent.ofRun]),
  ];
  return limits.length === 0 ? undefined : Math.max(0, Math.min(...limits));
}

/**
 * Credits of a record. All processes of an export book in one ledger, which `creditsPerDay` needs: what any of them saw of it last
 * holds for all, also when that run has ended.
 */
export function creditFigures(
  runs: readonly RecordedRun[],
  {
    nowMs,
    live,
    spent = { credits: 0 },
  }: {
    readonly nowMs: number;
    /** The run that works; undefined when none does. */
    readonly live?: RecordedRun | undefined;
    /** Over all runs: a killed run may have sent calls that its last span does not know. */
    readonly spent?: Pick<Spent, 'credits'> | undefined;
  },
): {
  /** Booked on the UTC day of `nowMs`, according to the history. */
  readonly today: number;
  /** What the tightest limit leaves; undefined without a limit. */
  readonly left: number | undefined;
} {
  let seen: { readonly atMs: number; readonly booked: number } | undefined;
  for (const { start, spans } of runs) {
    const last = spans.findLast((span) => span.booked !== undefined);
    const atMs = start.startMs + (last === undefined ? 0 : last.t + last.ms);
    if (last?.booked !== undefined && (seen === undefined || atMs >= seen.atMs)) seen = { atMs, booked: last.booked };
  }
  const booked = seen !== undefined && utcDay(seen.atMs) === utcDay(nowMs) ? seen.booked : 0;
  const today = Math.max(booked, leastToday(runs, nowMs, booked, spent.credits));
  const { start } = live ?? runs.at(-1) ?? {};
  const ofRun = live === undefined ? undefined : live.sent * live.start.creditsPerCall;
  return { today, left: creditsLeftOf(start ?? {}, { today, ofRun }) };
}

/** The least that is booked today: all that the export has spent, if its runs began today; 0 where nobody knows. */
function leastToday(runs: readonly RecordedRun[], nowMs: number, booked: number, credits: number): number {
  const areOfToday = runs.length > 0 && runs.every(({ start }) => utcDay(start.startMs) === utcDay(nowMs));
  const recorded = runs.reduce((sum, { sent, start }) => sum + sent * start.creditsPerCall, 0);
  // A ledger below the calls that were recorded with it was corrected (`credits set`), or calls were refunded.
  return areOfToday && booked >= recorded ? credits : 0;
}

/** Entries of all inputs, of those up to the limit: known when they are read, estimated from their bytes before. */
export function entriesExpected({
  read,
  inputBytes,
  inputBytesTotal,
  limit = Number.POSITIVE_INFINITY,
}: {
  /** Entries, and bytes of the inputs, that were read so far. */
  readonly read: number;
  readonly inputBytes: number;
  /** Of all inputs. */
  readonly inputBytesTotal: number;
  /** Entries that are read at most. */
  readonly limit?: number | undefined;
}): {
  readonly total: number | undefined;
  readonly totalExact: boolean;
} {
  if (read === 0 || inputBytes === 0) return { total: undefined, totalExact: false };
  const totalExact = inputBytes >= inputBytesTotal || read >= limit;
  return { total: totalExact ? read : Math.min(limit, Math.round((read / inputBytes) * inputBytesTotal)), totalExact };
}

/** How far an export is, in the figures that every view of it shows. */
export interface AccountFigures {
  /** Rows of `assets` in committed parts: exported and carried. */
  readonly rows: number;
  /** Ids whose answers are paid for and kept, and that lie in no committed part. */
  readonly fetched: number;
  /** Known entries that lie in no committed part, with those that are fetched. */
  readonly pending: number;
  /** What the tightest limit of credits leaves; null without a limit. */
  readonly creditsLeft: number | null;
  /** Ids of the base that are not listed now; null without a base, and until the export is complete. */
  readonly unlisted: number | null;
}

/** The one place that makes the figures of an account. */
export function accountFigures({
  counts,
  read,
  fetched,
  creditsLeft,
  unlisted,
}: {
  /** Of the committed parts. */
  readonly counts: Counts;
  /** Entries that are known. */
  readonly read: number;
  readonly fetched: number;
  readonly creditsLeft?: number | undefined;
  readonly unlisted?: number | undefined;
}): AccountFigures {
  return {
    rows: counts.exported + counts.carried,
    fetched,
    pending: Math.max(read - counts.read, fetched),
    creditsLeft: creditsLeft ?? null,
    unlisted: unlisted ?? null,
  };
}

/** The figures of a complete export, but what its ledger holds. */
export function manifestFigures({ counts, base }: Pick<Manifest, 'counts' | 'base'>): AccountFigures {
  return accountFigures({ counts, read: counts.read, fetched: 0, unlisted: base?.unlisted });
}

export interface StandingFigures {
  readonly account: AccountFigures;
  /** Booked on this UTC day by all who share the ledger, when the export last looked; null without a run. */
  readonly creditsToday: number | null;
}

/** The figures of an export that stands so, whoever reads it. */
export function standingFigures(standing: ExportStanding, nowMs: number): StandingFigures {
  const runs = runsOf(standing.lines);
  // The run that completed an export has recorded all of its calls.
  const { owner, spent } = 'manifest' in standing ? {} : standing;
  const last = runs.at(-1);
  const live = owner !== undefined && last?.end === undefined ? last : undefined;
  const { today, left: creditsLeft = null } = creditFigures(runs, { nowMs, live, spent });
  const account = 'manifest' in standing ? manifestFigures(standing.manifest) : unfinishedFigures(standing);
  return { account: { ...account, creditsLeft }, creditsToday: runs.length === 0 ? null : today };
}

function unfinishedFigures({ commits, fleet, lines }: UnfinishedStanding): AccountFigures {
  const counts = committedCounts(commits);
  return accountFigures({
    counts,
    read: fleet?.entries ?? lastRunOf(lines)?.read ?? 0,
    fetched:
      fleet === undefined
        ? fetchedIds(lines, counts)
        : fleet.workers.reduce((sum, worker) => sum + worker.fetched, fleet.kept),
  });
}
