import { exportPaths, pathIn } from '../../../places/export/export-folder.ts';
import type { Disk, Reads, OpenFile } from '../../../places/files/disk.ts';
import {
  boundedRunLines,
  isOverBounds,
  parseRunLines,
  type RunLine,
  runLineText,
  type LineOf,
  type OtherLine,
  type RunSpan,
  type RunStart,
} from './run-lines.ts';
import type { LockOwner } from '../../../lib/process/lock-owner.ts';
import type { Commit, ExportStart, Spent, Counts } from '../../../places/export/export-facts.ts';
import type { FleetStanding } from '../../../places/log/heartbeat.ts';
import type { Manifest } from '../../../places/export/manifest.ts';
import { utcDay } from '../../../lib/clock.ts';
import { committedCounts } from '../../../places/scratch/commit-sums.ts';
import {
  accountFigures,
  type AccountFigures,
  askedIds,
  creditsLeftOf,
  fetchedNow,
  manifestFigures,
  Pace,
  type WorkDone,
} from './run-figures.ts';
import { RunFold } from './run-fold.ts';

/** What is known of an export that is not complete. */
export interface UnfinishedStanding {
  /** Undefined as long as a run reads its inputs. */
  readonly start: ExportStart | undefined;
  readonly commits: readonly Commit[];
  readonly spent: Spent;
  /** Who makes its parts; undefined when nobody does. */
  readonly owner: LockOwner | undefined;
  readonly lines: readonly RunLine[];
  /** Of an export that was enqueued. */
  readonly fleet?: FleetStanding | undefined;
}

/** How an export stands now: what `status` and `report` are made of. */
export type ExportStanding = UnfinishedStanding | { readonly manifest: Manifest; readonly lines: readonly RunLine[] };

/** One of the runs in the history of an export. Moments are milliseconds since 1970 UTC. */
export class RecordedRun extends RunFold {
  readonly start: RunStart;
  readonly lines: readonly OtherLine[];
  readonly spans: readonly RunSpan[];
  /** How it ended; undefined for a live run and for one that was killed. */
  readonly end: LineOf<'end'> | undefined;
  /** The end of its last span: of a killed run that is all there is. */
  readonly endedMs: number;
  /** When all calls were paused or waited for credits, in milliseconds since the run began. Each stands for so many `times`. */
  readonly pauses: readonly (WorkDone['pauses'][number] & { readonly reason: string; readonly times: number })[];
  /** Until when it waits for credits; undefined when it never did. */
  readonly waitingUntilMs: number | undefined;
  /** The error that it ended with; without an end, the last reason for a retry or a pause. */
  readonly lastError: string | undefined;
  readonly lastErrorMs: number;

  constructor(start: RunStart, lines: readonly OtherLine[]) {
    super(start.fetched);
    for (const line of lines) this.addLine(line);
    this.start = start;
    this.lines = lines;
    this.spans = lines.filter((line) => line.kind === 'span');
    this.end = lines.findLast((line) => line.kind === 'end');
    // A notice may be delivered when the run is over.
    const ends = lines.map((line) => (line.kind === 'told' ? 0 : line.t + (line.kind === 'span' ? line.ms : 0)));
    this.endedMs = start.startMs + ends.reduce((latest, t) => Math.max(latest, t), 0);
    const held = lines.filter((line) => line.kind === 'paused' || line.kind === 'waiting');
    this.pauses = held.map((line) => {
      const { kind, t, untilMs, heldMs, reason, times = 1 } = line;
      return { kind, t, untilT: heldMs === undefined ? untilMs - start.startMs : t + heldMs, reason, times };
    });
    this.waitingUntilMs = held.findLast(({ kind }) => kind === 'waiting')?.untilMs;
    const trouble = lines.findLast((line) => 'reason' in line);
    this.lastError = this.end === undefined ? trouble?.reason : this.end.error;
    this.lastErrorMs = start.startMs + ((this.end ?? trouble)?.t ?? 0);
  }
}

/** The runs of a record, in their order. */
export function runsOf(lines: readonly RunLine[]): RecordedRun[] {
  const starts = lines.flatMap((line, at) => (line.kind === 'run' ? [{ line, at }] : []));
  return starts.map(({ line, at }, index) => {
    const own = lines.slice(at + 1, starts[index + 1]?.at);
    return new RecordedRun(
      line,
      own.filter((each) => each.kind !== 'run'),
    );
  });
}

/** The run that began last; undefined when there is none. */
export function lastRunOf(lines: readonly RunLine[]): RecordedRun | undefined {
  return runsOf(lines).at(-1);
}

/** How long a run worked, in milliseconds. */
export function elapsedMsOf({ start, endedMs }: Pick<RecordedRun, 'start' | 'endedMs'>): number {
  return endedMs - start.startMs;
}

/** Ids a second over the whole of some runs. */
export function meanIdsPerSecond(...runs: readonly Pick<RecordedRun, 'start' | 'endedMs' | 'work'>[]): number {
  const ms = runs.reduce((sum, run) => sum + elapsedMsOf(run), 0);
  return ms === 0 ? 0 : (runs.reduce((sum, { work }) => sum + work.ids, 0) / ms) * 1000;
}

/** The pace of a run according to its record, and the milliseconds that its calls need for so many ids more. */
export function paceOf(run: RecordedRun, ids: number, nowMs: number): { pace: Pace; workMs: number | undefined } {
  const { start, spans, pauses } = run;
  const inFlight = run.inFlight() * start.idsPerCall;
  const pace = new Pace({ spans, pauses, inFlight }, nowMs - start.startMs);
  return { pace, workMs: pace.msFor(ids) };
}

/** `fetchedNow` after the last run of a record. @param counts those of the committed parts now */
export function fetchedIds(lines: readonly RunLine[], counts: Counts): number {
  const last = lastRunOf(lines);
  if (last === undefined) return 0;
  const { start, work } = last;
  const { replayed, ids } = work;
  return fetchedNow({ before: start.fetched, replayed, ids, written: askedIds(counts) - start.written });
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
  const ofRun = live === undefined ? undefined : live.work.sent * live.start.creditsPerCall;
  return { today, left: creditsLeftOf(start ?? {}, { today, ofRun }) };
}

/** The least that is booked today: all that the export has spent, if its runs began today; 0 where nobody knows. */
function leastToday(runs: readonly RecordedRun[], nowMs: number, booked: number, credits: number): number {
  const areOfToday = runs.length > 0 && runs.every(({ start }) => utcDay(start.startMs) === utcDay(nowMs));
  const recorded = runs.reduce((sum, { work, start }) => sum + work.sent * start.creditsPerCall, 0);
  // A ledger below the calls that were recorded with it was corrected (`credits set`), or calls were refunded.
  return areOfToday && booked >= recorded ? credits : 0;
}

/** The figures of an export that stands so, whoever reads it. */
export function standingFigures(
  standing: ExportStanding,
  nowMs: number,
): {
  readonly account: AccountFigures;
  /** Booked on this UTC day by all who share the ledger, when the export last looked; null without a run. */
  readonly creditsToday: number | null;
} {
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
    read: fleet?.entries ?? lastRunOf(lines)?.work.read ?? 0,
    fetched:
      fleet === undefined
        ? fetchedIds(lines, counts)
        : fleet.workers.reduce((sum, worker) => sum + worker.fetched, fleet.kept),
  });
}

/**
 * What the runs of an export did: `.run/runs.jsonl`, moved next to the manifest once the export is complete. It decides
 * nothing: it is never synced, and a write that fails loses lines of it and nothing else.
 */
export interface RunHistory {
  /** What earlier runs left. */
  readonly earlier: readonly RunLine[];
  /** Appends lines; resolves to why they are not in the file. */
  append(lines: readonly RunLine[]): Promise<Error | undefined>;
  /** What is appended later opens it again. */
  close(): Promise<void>;
}

/** The lines of an export's history; none when there is none. */
export async function readRunLines(files: Reads, folder: string): Promise<RunLine[]> {
  const unfinished = await textOf(files, pathIn(folder, exportPaths.runLines));
  return parseRunLines(unfinished ?? (await textOf(files, pathIn(folder, exportPaths.keptRunLines))) ?? '');
}

async function textOf(files: Reads, path: string): Promise<string | undefined> {
  const bytes = await files.readAll(path).catch(() => undefined);
  return bytes && Buffer.from(bytes).toString('utf8');
}

/** Opens the history of an unfinished export for the run that begins. Nothing is written before the first line. */
export function openRunHistory(files: Disk, folder: string): Promise<RunHistory> {
  return openHistory(files, pathIn(folder, exportPaths.runLines));
}

/** Opens the history that a complete export in a folder keeps. */
export function openKeptHistory(files: Disk, folder: string): Promise<RunHistory> {
  return openHistory(files, pathIn(folder, exportPaths.keptRunLines));
}

async function openHistory(files: Disk, path: string): Promise<RunHistory> {
  return new RecordFile(files, path, (await textOf(files, path)) ?? '');
}

class RecordFile implements RunHistory {
  readonly earlier: readonly RunLine[];
  readonly #files: Disk;
  readonly #path: string;
  #lines: RunLine[];
  #file: OpenFile | undefined;
  /** Where the whole lines end: the next are written there, over what was cut. */
  #end: number;
  #isCut = true;

  constructor(files: Disk, path: string, text: string) {
    this.#files = files;
    this.#path = path;
    this.#lines = parseRunLines(text);
    this.#end = Buffer.byteLength(text.slice(0, text.lastIndexOf('\n') + 1));
    this.earlier = [...this.#lines];
  }

  async append(lines: readonly RunLine[]): Promise<Error | undefined> {
    try {
      await this.#add(lines);
      return undefined;
    } catch (error) {
      this.#isCut = true;
      return error instanceof Error ? error : new Error(String(error));
    }
  }

  async #add(lines: readonly RunLine[]): Promise<void> {
    const all = [...this.#lines, ...lines];
    const bytes = Buffer.from(runLineText(lines));
    if (isOverBounds(all, this.#end + bytes.length)) return this.#writeAnew(boundedRunLines(all));
    this.#file ??= await this.#files.open(this.#path, 'update');
    if (this.#isCut) await this.#file.truncate(this.#end);
    this.#isCut = false;
    await this.#file.write(bytes, this.#end);
    this.#end += bytes.length;
    this.#lines = all;
  }

  /** Writes a new file and renames it: a reader sees the old or the new one, whole. */
  async #writeAnew(lines: RunLine[]): Promise<void> {
    const bytes = Buffer.from(runLineText(lines));
    const file = await this.#files.open(`${this.#path}.new`, 'create');
    try {
      await file.write(bytes, 0);
      await this.#files.rename(`${this.#path}.new`, this.#path);
    } catch (error) {
      await file.close().catch(() => undefined);
      throw error;
    }
    const old = this.#file;
    this.#file = file;
    this.#end = bytes.length;
    this.#lines = lines;
    await old?.close();
  }

  async close(): Promise<void> {
    await this.#file?.close().catch(() => undefined);
    this.#file = undefined;
  }
}

/** Moves the history of a complete export next to its manifest. If that fails, it is lost. */
export async function keepRunLines(files: Disk, folder: string): Promise<void> {
  const from = pathIn(folder, exportPaths.runLines);
  const size = await files.sizeOf(from).catch(() => undefined);
  if (size !== undefined) await files.rename(from, pathIn(folder, exportPaths.keptRunLines)).catch(() => undefined);
}
