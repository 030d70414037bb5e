import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { failureReasons, serviceStates } from '../../core/client/asset-client.ts';
import { utcDay } from '../../lib/clock.ts';
import type { Counts } from '../../places/export/export-facts.ts';
import { type AccountFigures, CreditsLeft } from '../../core/run/history/run-figures.ts';
import { callBounds } from '../../core/run/history/run-lines.ts';
import type { RunEvent } from '../../core/work/run-events.ts';
import { type CallPause, RunFold } from '../../core/run/history/run-fold.ts';
import type { ObservedRun, RunEnd } from '../../core/work/run-observer.ts';
import { runName } from './run-name.ts';

const fates = ['exported', 'carried', 'missing', 'invalid', 'duplicate', 'failed', 'pending'] as const;

/** A run that makes no progress for so long is stuck, unless it pauses or waits. */
const stuckMs = 15 * 60_000;

/** Events that show progress. */
const progress: ReadonlySet<RunEvent['kind']> = new Set(['opened', 'answered', 'settled', 'committed', 'replayed']);

/** The metrics of one run, summed from its events. */
export class RunMetrics {
  readonly #registry = new Registry();
  readonly #run: ObservedRun;
  readonly #credits: CreditsLeft;
  readonly #gauges = new Map<string, Gauge>();
  readonly #entries: Gauge<'fate'>;
  readonly #calls: Counter<'outcome'>;
  readonly #retries: Counter<'reason'>;
  readonly #service: Gauge<'state'>;
  readonly #duration: Histogram;
  readonly #bytes: Counter;
  readonly #creditsTotal: Counter;
  readonly #fold = new RunFold();
  #isEnded = false;
  #progressMs: number;

  /** @param booked credits on this UTC day before the run */
  constructor(run: ObservedRun, booked: number) {
    this.#run = run;
    this.#progressMs = run.clock.monotonic();
    this.#credits = new CreditsLeft(run.job.budget, booked, run.clock.now());
    const { job, worker } = run;
    this.#registry.setDefaultLabels({ export: runName(job), ...(worker === undefined ? {} : { worker }) });
    const registers = [this.#registry];
    const named = (name: string, help: string) => ({ name: `asset_export_${name}`, help, registers });
    new Gauge({ ...named('build_info', 'Version of asset-export; always 1.'), labelNames: ['version'] }).set(
      { version: run.version },
      1,
    );
    this.#entries = new Gauge({
      ...named('entries', 'Entries of the id files by what became of them.'),
      labelNames: ['fate'],
    });
    this.#calls = new Counter({
      ...named('calls_total', 'Calls of this process that ended.'),
      labelNames: ['outcome'],
    });
    for (const outcome of ['answered', 'failed']) this.#calls.inc({ outcome }, 0);
    this.#retries = new Counter({
      ...named('retries_total', 'Attempts after the first, by why the one before failed.'),
      labelNames: ['reason'],
    });
    for (const reason of failureReasons) this.#retries.inc({ reason }, 0);
    this.#service = new Gauge({
      ...named('service_state', 'What the run believes of the service: 1 for that state, 0 for the others.'),
      labelNames: ['state'],
    });
    this.#duration = new Histogram({
      ...named('call_duration_seconds', 'Time of answered calls, from request to the last byte.'),
      buckets: callBounds,
    });
    this.#bytes = new Counter(named('received_bytes_total', 'Bytes of answers, decoded.'));
    this.#creditsTotal = new Counter(named('credits_total', 'Credits of the calls that this process sent.'));
    addProcessMetrics(this.#registry);
    this.#set('last_run_start_timestamp_seconds', this.#progressMs / 1000);
    this.#progress();
    this.#setEntries();
    if (job.ids.limit !== undefined) this.#set('limit_ids', job.ids.limit);
  }

  /** The time of the last success, which a run before this one wrote down. */
  keepSuccess(seconds: number): void {
    this.#set('last_success_timestamp_seconds', seconds);
  }

  readonly listener = (event: RunEvent): void => {
    this.#fold.add(event);
    this.#count(event);
    if (progress.has(event.kind)) this.#progressMs = this.#run.clock.monotonic();
  };

  #count(event: RunEvent): void {
    switch (event.kind) {
      case 'sent':
        this.#creditsTotal.inc(this.#run.job.budget.creditsPerCall);
        return;
      case 'answered':
        this.#calls.inc({ outcome: 'answered' });
        this.#duration.observe(event.ms / 1000);
        this.#bytes.inc(event.bytes);
        return;
      case 'failed':
        this.#calls.inc({ outcome: 'failed' });
        return;
      case 'retry':
        this.#retries.inc({ reason: event.why });
    }
  }

  end({ exit, account }: RunEnd): void {
    const seconds = this.#run.clock.now() / 1000;
    this.#isEnded = true;
    this.#set('last_run_end_timestamp_seconds', seconds);
    this.#set('last_run_exit_code', exit);
    if (exit === 0) this.#set('last_success_timestamp_seconds', seconds);
    if (account === undefined) {
      this.#setEntries();
      this.#setFigures(this.#fold.figures(this.#credits.after(this.#fold.work.sent, this.#run.clock.now())));
    } else {
      this.#setFates(account.counts, account.pending);
      this.#set('entries_expected', account.counts.read);
      this.#setFigures(account);
      if (account.proofs !== undefined) this.#set('unproven_assets', account.proofs.unproven);
    }
  }

  /** In the text format of Prometheus. */
  async text(): Promise<string> {
    const nowMs = this.#run.clock.now();
    const { work, parts, service } = this.#fold;
    if (!this.#isEnded) {
      this.#setEntries();
      this.#setFigures(this.#fold.figures(this.#credits.after(work.sent, nowMs, await bookedToday(this.#run))));
    }
    this.#set('parts_committed', parts);
    this.#set('calls_in_flight', this.#isEnded ? 0 : this.#fold.inFlight());
    this.#set('paused_until_timestamp_seconds', (this.#pauseAt(nowMs)?.untilMs ?? 0) / 1000);
    for (const state of serviceStates) this.#service.set({ state }, !this.#isEnded && state === service.state ? 1 : 0);
    this.#progress();
    return this.#registry.metrics();
  }

  #pauseAt(nowMs: number): CallPause | undefined {
    return this.#isEnded ? undefined : this.#fold.pauseAt(nowMs);
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  isHealthy(): boolean {
    const { clock } = this.#run;
    return this.#pauseAt(clock.now()) !== undefined || clock.monotonic() - this.#progressMs < stuckMs;
  }

  #progress(): void {
    this.#set('last_progress_timestamp_seconds', this.#progressMs / 1000);
  }

  #setEntries(): void {
    const counts = this.#fold.counts();
    this.#setFates(counts, Math.max(0, this.#fold.work.read - counts.read));
    const { total } = this.#fold.total();
    if (total !== undefined) this.#set('entries_expected', total);
  }

  #setFigures({ rows, fetched, creditsLeft, unlisted }: AccountFigures): void {
    this.#set('rows', rows);
    this.#set('fetched_ids', fetched);
    if (unlisted !== null) this.#set('unlisted', unlisted);
    if (creditsLeft !== null) this.#set('credits_remaining', creditsLeft);
  }

  #setFates(counts: Counts, pending: number): void {
    for (const fate of fates) this.#entries.set({ fate }, fate === 'pending' ? pending : counts[fate]);
  }

  /** A gauge exists from its first value on: absent is not 0. */
  #set(name: keyof typeof gaugeHelp, value: number): void {
    let gauge = this.#gauges.get(name);
    if (gauge === undefined) {
      gauge = new Gauge({ name: `asset_export_${name}`, help: gaugeHelp[name], registers: [this.#registry] });
      this.#gauges.set(name, gauge);
    }
    gauge.set(value);
  }
}

const gaugeHelp = {
  entries_expected: 'Entries of all id files; an estimate until they are read.',
  rows: 'Rows of assets in committed parts: exported and carried.',
  fetched_ids: 'Ids whose answers are paid for and kept, in no committed part.',
  unlisted: 'Ids of the base that are not listed now; absent without a base, and while a run works.',
  unproven_assets:
    'Compressed assets that do not agree with their hashes; absent without output.proofs, and while a run works.',
  limit_ids: 'Ids that the export reads at most; absent for an export of all ids.',
  parts_committed: 'Parts that are committed.',
  calls_in_flight: 'Calls that wait for their answer.',
  credits_remaining: 'Credits that the tightest limit leaves; absent without a limit.',
  paused_until_timestamp_seconds: 'Time until which all calls are paused or wait for credits; 0 if neither.',
  last_progress_timestamp_seconds: 'When the last answer came or the last part was committed.',
  last_run_start_timestamp_seconds: 'When this run began.',
  last_run_end_timestamp_seconds: 'When this run ended; absent while it works.',
  last_success_timestamp_seconds: 'When a run last ended with exit 0.',
  last_run_exit_code: 'Exit code of this run; absent while it works.',
} as const;

/** Only these two of the process: the others say nothing of an export. */
function addProcessMetrics(registry: Registry): void {
  const registers = [registry];
  new Counter({
    name: 'process_cpu_seconds_total',
    help: 'CPU time of the process, user and system.',
    registers,
    collect() {
      const { user, system } = process.cpuUsage();
      this.reset();
      this.inc((user + system) / 1e6);
    },
  });
  new Gauge({
    name: 'process_resident_memory_bytes',
    help: 'Resident memory of the process.',
    registers,
    collect() {
      this.set(process.memoryUsage.rss());
    },
  });
}

/** Credits that the ledger has for today; 0 when it cannot tell, which it reports where it is needed. */
export function bookedToday({ ledger, clock }: ObservedRun): Promise<number> {
  return ledger.booked(utcDay(clock.now())).catch(() => 0);
}
