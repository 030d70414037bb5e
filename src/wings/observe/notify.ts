import { someIdsOf } from '../../core/job/job-schema.ts';
import type { NotifyEvent, NotifyTarget } from '../../core/job/job-sections.ts';
import { nextUtcMidnight } from '../../lib/clock.ts';
import { exitCodes } from '../../lib/exit-codes.ts';
import { count, duration, plural } from '../../lib/format-text.ts';
import { noCounts, limitText, type SomeIds } from '../../places/export/export-facts.ts';
import type { RunEvent } from '../../core/work/run-events.ts';
import { RunFold } from '../../core/run/history/run-fold.ts';
import type { PublishedTables, ObservedRun, RunAccount, RunEnd, RunObserver } from '../../core/work/run-observer.ts';
import { Delivery } from './deliver.ts';
import { runName } from './run-name.ts';

/** What a receiver is told. */
interface Summary {
  readonly event: NotifyEvent;
  readonly export: string;
  readonly run: string;
  /** Ids that are read at most; absent for an export of all ids. */
  readonly limit?: SomeIds;
  readonly state: 'complete' | 'stopped' | 'waiting';
  /** Null while the run waits. */
  readonly exit: number | null;
  /** ISO 8601; `ended` is null while the run waits. */
  readonly began: string;
  readonly ended: string | null;
  readonly counts: RunAccount['counts'] & { readonly pending: number };
  readonly rows: number;
  readonly fetched: number;
  readonly creditsLeft: number | null;
  /** Ids of the base that are not listed now; null without a base. */
  readonly unlisted: number | null;
  /** Of this run. */
  readonly calls: number;
  readonly credits: number;
  /** Tables of the lake, where the export was published or is. */
  readonly lake?: PublishedTables;
  readonly retries: number;
  readonly error: string | null;
  readonly todo: string | null;
}

/** Tells receivers how a run ends, and that it waits for credits: that once a reset time, whichever run of the export waits. */
export function notifyOf(run: ObservedRun): RunObserver {
  const summaries = new Summaries(run);
  const receivers = run.job.notify.map((target) => new Receiver(target, run));
  let asked: Promise<unknown> = Promise.resolve();
  const wait = async (summary: Summary, untilMs: number): Promise<void> => {
    const isTold = await run.notices.isTold(untilMs);
    // What is delivered is not waited for: the end of the run may follow at once.
    void keep(
      receivers.map((receiver) => receiver.waits(summary, isTold)),
      untilMs,
    );
  };
  const keep = async (sent: readonly Promise<boolean>[], untilMs: number): Promise<void> => {
    if ((await Promise.all(sent)).includes(true)) await run.notices.tell(untilMs);
  };
  return {
    listener: (event) => {
      const waiting = summaries.add(event);
      if (waiting !== undefined && event.kind === 'waiting') asked = asked.then(() => wait(waiting, event.untilMs));
    },
    end: async (end) => {
      const untilMs = resetOf(end, run.clock.now());
      await asked;
      const isTold = untilMs !== undefined && (await run.notices.isTold(untilMs));
      const summary = summaries.ofEnd(end);
      const sent = receivers.map((receiver) => receiver.ends(summary, isTold || end.isElsewhere === true));
      await (untilMs === undefined ? Promise.all(sent) : keep(sent, untilMs));
    },
  };
}

/** When there are credits again; undefined where that is now, or where they are not spent. What only the provider knows is said once a day. */
function resetOf({ runAgainAt }: RunEnd, nowMs: number): number | undefined {
  if (runAgainAt === undefined || runAgainAt === 'now') return undefined;
  return runAgainAt === null ? nextUtcMidnight(nowMs) : Date.parse(runAgainAt);
}

class Summaries {
  readonly #run: ObservedRun;
  readonly #began: string;
  readonly #fold = new RunFold();

  constructor(run: ObservedRun) {
    this.#run = run;
    this.#began = isoSeconds(run.clock.now());
  }

  /** The summary of a run that begins to wait for credits. */
  add(event: RunEvent): Summary | undefined {
    this.#fold.add(event);
    if (event.kind !== 'waiting') return undefined;
    const { work, committed, retries } = this.#fold;
    const calls = work.sent;
    const { rows, fetched, pending, unlisted } = this.#fold.figures(undefined);
    const counts = { ...committed, read: committed.read + pending, pending };
    return {
      event: 'waiting',
      ...this.#head(),
      state: 'waiting',
      exit: null,
      began: this.#began,
      ended: null,
      counts,
      rows,
      fetched,
      creditsLeft: 0,
      unlisted,
      calls,
      credits: calls * this.#run.job.budget.creditsPerCall,
      retries,
      error: event.reason,
      todo: `Nothing: the run continues at ${new Date(event.untilMs).toISOString()}.`,
    };
  }

  ofEnd({ state, exit, error, todo, account, lake }: RunEnd): Summary {
    const { calls = 0, credits = 0, counts = noCounts } = account ?? {};
    const { rows = 0, fetched = 0, pending = 0, creditsLeft = null, unlisted = null } = account ?? {};
    const { read, exported, carried, missing, invalid, duplicate, failed } = counts;
    return {
      event: eventOf(exit),
      ...this.#head(),
      state,
      exit,
      began: this.#began,
      ended: isoSeconds(this.#run.clock.now()),
      counts: { read, exported, carried, missing, invalid, duplicate, failed, pending },
      rows,
      fetched,
      creditsLeft,
      unlisted,
      calls,
      credits,
      retries: this.#fold.retries,
      ...(lake === undefined ? {} : { lake }),
      error: error ?? null,
      todo: todo ?? null,
    };
  }

  #head(): Pick<Summary, 'export' | 'run' | 'limit'> {
    const limit = someIdsOf(this.#run.job.ids);
    return { export: runName(this.#run.job), run: this.#run.run, ...(limit === undefined ? {} : { limit }) };
  }
}

function eventOf(exit: number): NotifyEvent {
  if (exit === exitCodes.complete.code) return 'success';
  return exit === exitCodes.spent.code ? 'waiting' : 'failure';
}

class Receiver {
  readonly #target: NotifyTarget;
  readonly #run: string;
  readonly #delivery: Delivery;
  /** A ping is no notice: it is about this process, which said that it started. */
  readonly #isPing: boolean;

  constructor(target: NotifyTarget, { clock, abort, listener, run }: ObservedRun) {
    const { url, as } = target;
    this.#target = target;
    this.#run = run;
    this.#delivery = new Delivery({ what: `a notification (${as})`, clock, abort, listener });
    this.#isPing = as === 'healthchecks';
    // Its grace time counts from here: a run that is killed is missed.
    if (this.#isPing) void this.#delivery.send({ url: pingAddress(url, 'start', run), body: '' });
  }

  /** Resolves to whether a notice was delivered. @param isTold whether another run of the export has told of it, or will */
  async waits(summary: Summary, isTold: boolean): Promise<boolean> {
    return this.#isSent(summary, isTold) && (await this.#delivery.send(this.#message(summary))) && !this.#isPing;
  }

  /** The same at the end of the run. */
  async ends(summary: Summary, isTold: boolean): Promise<boolean> {
    const sent = this.#isSent(summary, isTold)
      ? this.#delivery.sendLast(this.#message(summary))
      : this.#delivery.settled();
    return (await sent) && !this.#isPing;
  }

  #isSent({ event }: Summary, isTold: boolean): boolean {
    return this.#target.on.includes(event) && (this.#isPing || !isTold);
  }

  #message(summary: Summary): { url: string; body: string } {
    const { url, as } = this.#target;
    return {
      url: this.#isPing ? pingAddress(url, pingOf(summary), this.#run) : url,
      body: JSON.stringify(as === 'slack' ? { text: slackText(summary) } : summary),
    };
  }
}

/** A run that waits is neither a failure nor a success yet. */
function pingOf({ exit }: Summary): string {
  return exit === null ? 'log' : String(exit);
}

function pingAddress(base: string, ping: string, run: string): string {
  const url = new URL(base);
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/${ping}`;
  url.searchParams.set('rid', run);
  return url.href;
}

function slackText(summary: Summary): string {
  const { rows, fetched, unlisted, counts, credits, began, ended, state, exit, error, todo } = summary;
  const { carried, missing, failed, pending, read } = counts;
  const counted = [
    [missing, 'missing'],
    [failed, 'failed'],
    [pending, `pending${fetched === 0 ? '' : ` (${count(fetched)} fetched)`}`],
    [unlisted ?? 0, 'not listed now'],
  ] as const;
  const fates = [
    `${count(rows)} of ${count(read)} exported${carried === 0 ? '' : ` (${count(carried)} carried)`}`,
    ...counted.flatMap(([ids, what]) => (ids > 0 ? [`${count(ids)} ${what}`] : [])),
  ];
  const took = ended === null ? '' : `, ${duration(Date.parse(ended) - Date.parse(began))}`;
  const head =
    state === 'complete' ? 'is complete' : state === 'waiting' ? 'waits for credits' : `stopped (exit ${exit ?? ''})`;
  const why = [error, todo].filter((text) => text !== null).join(' ');
  const only = summary.limit === undefined ? '' : ` (${limitText(summary.limit)})`;
  return `${summary.export}${only} ${head}: ${fates.join(', ')}; ${plural(credits, 'credit')}${took}${why === '' ? '' : `. ${why}`}`;
}

function isoSeconds(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');
}
