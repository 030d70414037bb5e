import { nextUtcMidnight } from '../../lib/clock.ts';
import {
  byteSize,
  count,
  duration,
  plural,
  printable,
  wrapText,
  progressBar,
  cutLine,
  folded,
} from '../../lib/format-text.ts';
import type { TimeLeft } from '../../core/run/history/run-figures.ts';
import type { Counts } from '../../places/export/export-facts.ts';

/** What the block shows of a run, whichever process runs it. Times in milliseconds. */
export interface ProgressFacts {
  readonly nowMs: number;
  readonly elapsedMs: number;
  /** Entries whose fate is known, and of the whole input: an estimate until it is read. */
  readonly done: number;
  readonly total: number | undefined;
  readonly totalExact: boolean;
  readonly fates: Omit<Counts, 'read'> & { readonly fetched?: number };
  /** Committed, and expected in all. */
  readonly parts: number;
  readonly partsTotal: number | undefined;
  readonly idsPerSecond: number;
  /** Absent until it is known. */
  readonly left?: TimeLeft;
  readonly calls: number;
  readonly callsInFlight: number;
  /** Calls in flight that are let out, where the run finds their number. */
  readonly callsAtOnce?: number | undefined;
  readonly retries: number;
  /** Received, decoded. */
  readonly bytes: number;
  readonly credits: number;
  /** What the tightest limit leaves; undefined without a limit. */
  readonly creditsLeft: number | undefined;
  /** Why no call is sent, and until when. */
  readonly pause: ProgressPause | undefined;
  /** What the run believes of the service, in words; undefined while it works. */
  readonly service: string | undefined;
  /** Other current work. */
  readonly note?: string;
}

export interface ProgressPause {
  readonly kind: 'paused' | 'waiting';
  readonly reason: string;
  readonly untilMs: number;
  /** UTC days of credits that are needed after the next. */
  readonly moreDays: number;
}

/** Below so many columns lines fold, and below so many only the first two stay. */
const leastColumns = 60;
const leastForAll = 40;
const mostColumns = 100;

/** The block that a terminal shows; no line is wider than it. */
export function progressBlock(facts: ProgressFacts, columns: number): string {
  const fraction = facts.total === undefined || facts.total === 0 ? 0 : Math.min(1, facts.done / facts.total);
  const first = progressBar(fraction, labelOf(facts, fraction, columns), Math.min(columns, mostColumns));
  const lines = [speedFacts(facts), fateFacts(facts.fates), costFacts(facts)].filter((each) => each.length > 0);
  if (columns < leastForAll)
    return [first, (lines[0] ?? []).join(separator)].map((line) => cutLine(line, columns)).join('\n');
  const shown = [first, ...lines.flatMap((each) => folded(each, separator, columns)), ...noticeLines(facts, columns)];
  return shown.map((line) => cutLine(line, columns)).join('\n');
}

/** `53 % asset-export`, for the title of the terminal. */
export function progressTitle({ done, total }: ProgressFacts): string {
  return total === undefined || total === 0 ? 'asset-export' : `${percent(done / total)} % asset-export`;
}

const separator = ' · ';

function percent(fraction: number): number {
  return Math.floor(Math.min(1, fraction) * 100);
}

function labelOf({ parts, partsTotal }: ProgressFacts, fraction: number, columns: number): string {
  const share = `${String(percent(fraction)).padStart(3)} %`;
  if (partsTotal === undefined || columns < leastColumns) return share;
  return `${share}  part ${count(Math.min(parts + 1, partsTotal))} of ${count(partsTotal)}`;
}

function speedFacts(facts: ProgressFacts): string[] {
  const { done, total, totalExact, idsPerSecond, left, elapsedMs, nowMs } = facts;
  const elapsed = seconds(elapsedMs);
  return [
    total === undefined ? 'reading ids' : `${count(done)} of ${totalExact ? '' : '~'}${count(total)} ids`,
    ...(idsPerSecond > 0 ? [`${count(idsPerSecond)} ids/s`] : []),
    ...(left === undefined
      ? [elapsed]
      : left.ends === 'budget'
        ? [elapsed, `credits end in ~${roughly(left.ms)}`]
        : [`${elapsed} of ~${roughly(elapsedMs + left.ms)}`, `ends ${endText(nowMs, left.ms)}`]),
  ];
}

function fateFacts(fates: ProgressFacts['fates']): string[] {
  return Object.entries(fates)
    .filter(([, value]) => value > 0)
    .map(([name, value]) => `${count(value)} ${name}`);
}

function costFacts({
  calls,
  callsInFlight,
  callsAtOnce,
  credits,
  creditsLeft,
  bytes,
  retries,
}: ProgressFacts): string[] {
  return [
    `${plural(calls, 'call')}${callsInFlight > 0 ? `, ${count(callsInFlight)}${callsAtOnce === undefined ? '' : ` of ${callsAtOnce}`} at once` : ''}`,
    `${plural(credits, 'credit')}${creditsLeft === undefined ? '' : `, ${count(creditsLeft)} left`}`,
    ...(bytes === 0 ? [] : [byteSize(bytes)]),
    ...(retries === 0 ? [] : [retries === 1 ? '1 retry' : `${count(retries)} retries`]),
  ];
}

function noticeLines({ pause, service, note, nowMs }: ProgressFacts, columns: number): string[] {
  const trouble = service === undefined ? [] : wrapText(printable(service), columns - 1);
  if (pause === undefined && trouble.length === 0) return note === undefined ? [] : [note];
  return [...(pause === undefined ? [] : [pauseLine(pause, nowMs)]), ...trouble];
}

function pauseLine(pause: ProgressPause, nowMs: number): string {
  const left = pause.untilMs - nowMs;
  if (pause.kind === 'paused') return `all calls paused ${seconds(left)}: ${printable(pause.reason)}`;
  const more = pause.moreDays === 0 ? '' : `, then ${plural(pause.moreDays, 'more day')}`;
  const isMidnight = pause.untilMs === nextUtcMidnight(nowMs);
  const until = isMidnight ? '00:00' : new Date(pause.untilMs).toISOString().slice(11, 16);
  return `waits until ${until} UTC (${seconds(left)})${more}`;
}

/** `42 s`, `1 min 23 s`, `5 h 12 min`: no fractions of a second. */
function seconds(ms: number): string {
  return ms < 59_500 ? `${Math.max(0, Math.round(ms / 1000))} s` : duration(ms);
}

/** The same to 5 s above a minute, and to 1 min above an hour: more would pretend to be known. */
function roughly(ms: number): string {
  const step = ms >= 3_600_000 ? 60_000 : ms >= 60_000 ? 5000 : 1000;
  return seconds(Math.round(ms / step) * step);
}

/** From here on a time of day is not enough. */
const farMs = 12 * 3_600_000;

/** `11:07`, in the time of this machine; with its date when it is far away. */
function endText(nowMs: number, leftMs: number): string {
  const end = new Date(nowMs + leftMs);
  const two = (value: number): string => String(value).padStart(2, '0');
  const time = `${two(end.getHours())}:${two(end.getMinutes())}`;
  return leftMs <= farMs ? time : `${end.getFullYear()}-${two(end.getMonth() + 1)}-${two(end.getDate())} ${time}`;
}
