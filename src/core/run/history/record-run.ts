import { usualAtOnce } from '../../client/judgement/call-limit.ts';
import { otherDialect } from '../../job/job-dialect.ts';
import { utcDay } from '../../../lib/clock.ts';
import type { CreditLedger } from '../../client/ledger/credit-ledger.ts';
import type { Job } from '../../job/job-schema.ts';
import type { Counts } from '../../../places/export/export-facts.ts';
import { boundedText, lineOf } from './run-fold.ts';
import { emptySpan, type RunLine, type RunSpan, sumOfSpans } from './run-lines.ts';
import { openRunHistory, type RunHistory, fetchedIds, lastRunOf } from './run-history.ts';
import type { PartsContext } from '../../work/parts-context.ts';
import type { RunEnd } from '../../work/run-observer.ts';
import { askedIds } from './run-figures.ts';

export interface RunToRecord extends Pick<PartsContext, 'files' | 'clock' | 'listener'> {
  /** Local folder that keeps the history. */
  readonly folder: string;
  readonly ledger: Pick<CreditLedger, 'booked'>;
  readonly job: Job;
  /** A UUID of version 7. */
  readonly run: string;
  readonly version: string;
  /** Of the parts that are committed when the run begins. */
  readonly counts: Counts;
  /** Calls in flight that a run of its base ended with. */
  readonly learnedCalls?: number | undefined;
}

/** Lines are written this often while something happens; the first of a run, which may be short, more often. */
const everyMs = 1000;
const firstEveryMs = 100;
const firstSpans = 10;

/** Keeps what a run does in the history of its export, which `status` and the report read. Slows nothing and fails nothing. */
export async function recordRun(run: RunToRecord): Promise<RunRecorder> {
  const record = await openRunHistory(run.files, run.folder);
  return new RunRecorder(run, record);
}

/** What a record says of the end of a run. @param t milliseconds since its start */
export function endLine(t: number, { state, exit, error }: Pick<RunEnd, 'state' | 'exit' | 'error'>): RunLine {
  return { kind: 'end', t, state, exit, ...(error === undefined ? {} : { error: boundedText(error) }) };
}

export class RunRecorder {
  readonly #run: RunToRecord;
  readonly #record: RunHistory;
  readonly #startMs: number;
  readonly #beganMs: number;
  readonly #ended = new AbortController();
  /** Lines that are not written yet: the span under way comes between them. */
  #head: RunLine[];
  #lines: RunLine[] = [];
  #span: RunSpan;
  #spans = 0;
  #seen: { readonly day: string; readonly booked: number } | undefined;
  #settled: Promise<number> | undefined;
  #isDirty = false;
  #isDue = false;
  #isLost = false;
  #writing: Promise<void> = Promise.resolve();

  /** Ids that earlier runs fetched and did not write. */
  readonly fetched: number;

  /** Calls in flight that the last run, or one of the base, ended with, where it found their number. */
  readonly learnedCalls: number | undefined;

  /** What earlier runs left. */
  get earlier(): readonly RunLine[] {
    return this.#record.earlier;
  }

  constructor(run: RunToRecord, record: RunHistory) {
    this.#run = run;
    this.#record = record;
    this.#startMs = run.clock.now();
    this.#beganMs = run.clock.monotonic();
    this.#span = emptySpan(0);
    const { service, budget } = run.job;
    const dialect = otherDialect(run.job)?.name;
    this.fetched = fetchedIds(record.earlier, run.counts);
    this.learnedCalls = lastRunOf(record.earlier)?.work.callsAtOnce ?? run.learnedCalls;
    const head: RunLine = {
      kind: 'run',
      n: record.earlier.reduce((most, line) => (line.kind === 'run' ? Math.max(most, line.n) : most), 0) + 1,
      run: run.run,
      startMs: this.#startMs,
      version: run.version,
      concurrency: usualAtOnce(service.concurrency, this.learnedCalls),
      idsPerCall: service.idsPerCall,
      creditsPerCall: budget.creditsPerCall,
      ...(dialect === undefined ? {} : { dialect }),
      ...(budget.creditsPerRun === undefined ? {} : { creditsPerRun: budget.creditsPerRun }),
      ...(budget.creditsPerDay === undefined ? {} : { creditsPerDay: budget.creditsPerDay }),
      whenSpent: budget.whenSpent,
      fetched: this.fetched,
      written: askedIds(run.counts),
    };
    this.#head = [head];
    this.#writeSoon();
  }

  /** Takes an event of the run. */
  readonly listener: RunToRecord['listener'] = (event) => {
    const line = this.#isLost ? undefined : lineOf(event, { t: this.#t(), nowMs: this.#run.clock.now() });
    if (line === undefined) return;
    // A span starts with its first event.
    if (!this.#isDirty) this.#span = emptySpan(line.t, this.#span);
    this.#isDirty = true;
    if (line.kind === 'span') this.#span = sumOfSpans(this.#span, line);
    else this.#lines.push(line);
    this.#writeSoon();
  };

  /** Writes what is left. Resolves to the credits of this UTC day in the ledger: as the history has them, or as a run finds them that did nothing. */
  settle(): Promise<number> {
    return (this.#settled ??= this.#writeRest());
  }

  async #writeRest(): Promise<number> {
    this.#ended.abort();
    await this.#writing;
    if (!this.#isLost) await this.#write();
    if (this.#seen?.day === utcDay(this.#run.clock.now())) return this.#seen.booked;
    return (await this.#booked()) ?? 0;
  }

  /** Resolves when the end of the run is recorded, or cannot be. */
  async end({ state, exit, error }: RunEnd): Promise<void> {
    await this.settle();
    const end = endLine(this.#t(), { state, exit, error });
    // Also behind lines that were lost: without it the run would count as killed.
    await this.#record.append([end]);
    await this.#record.close();
  }

  /** Keeps that a notice named this time, also when the run has ended. */
  async told(untilMs: number): Promise<void> {
    const line: RunLine = { kind: 'told', t: this.#t(), untilMs };
    if (!this.#ended.signal.aborted) {
      this.#lines.push(line);
      this.#writeSoon();
      return;
    }
    await this.#record.append([line]);
    await this.#record.close();
  }

  #t(): number {
    return this.#run.clock.monotonic() - this.#beganMs;
  }

  /** One write at a time, and the next no sooner than it is due. */
  #writeSoon(): void {
    if (this.#isDue || this.#isLost) return;
    this.#isDue = true;
    const waitMs = this.#spans < firstSpans ? firstEveryMs : everyMs;
    const wait = this.#spans === 0 ? Promise.resolve() : this.#run.clock.sleep(waitMs, this.#ended.signal);
    wait.then(
      () => {
        if (!this.#ended.signal.aborted) this.#writing = this.#writeDue();
      },
      () => undefined, // The run ended, and wrote what was left.
    );
  }

  async #writeDue(): Promise<void> {
    await this.#write();
    this.#isDue = false;
    if ((this.#isDirty || this.#lines.length > 0) && !this.#ended.signal.aborted) this.#writeSoon();
  }

  async #write(): Promise<void> {
    const booked = await this.#booked();
    const t = this.#t();
    if (this.#isDirty && booked !== undefined) this.#seen = { day: utcDay(this.#run.clock.now()), booked };
    const span = { ...this.#span, ms: Math.max(0, t - this.#span.t), ...(booked === undefined ? {} : { booked }) };
    const lines = [...this.#head, ...(this.#isDirty ? [span] : []), ...this.#lines];
    this.#head = [];
    this.#lines = [];
    this.#span = emptySpan(t, span);
    this.#isDirty = false;
    this.#spans += 1;
    const failure = await this.#record.append(lines);
    if (failure === undefined) return;
    this.#isLost = true;
    this.#run.listener({ kind: 'unrecorded', reason: failure.message });
  }

  /** Credits booked today by every process that shares the ledger. A ledger that fails reports it where it is needed. */
  #booked(): Promise<number | undefined> {
    const { ledger, clock } = this.#run;
    return ledger.booked(utcDay(clock.now())).catch(() => undefined);
  }
}
