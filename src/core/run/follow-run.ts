import type { Job } from '../job/job-schema.ts';
import { utcDay, uuidV7 } from '../../lib/clock.ts';
import { exitCodes } from '../../lib/exit-codes.ts';
import { ExportError, messageOf } from '../../lib/export-error.ts';
import type { ExportContext } from './export-context.ts';
import { creditsLeftOf } from './history/run-figures.ts';
import type { RunListener } from '../work/run-events.ts';
import {
  endedOnce,
  noObserver,
  Notices,
  type RunAccount,
  type RunEnd,
  type RunObserver,
} from '../work/run-observer.ts';
import type { ExportOutcome } from './complete-export.ts';
import { errorOf } from './tolerance.ts';
import { plannedSize } from '../job/job-dialect.ts';
import { Brake } from '../client/policies/brake.ts';
import { overrunOf } from '../client/policies/shared-pace.ts';

/** A run, and what follows it. */
export interface ObservedContext extends Braked<ExportContext> {
  readonly run: string;
  /** When it began, by the monotonic clock. */
  readonly beganMs: number;
  readonly observer: RunObserver;
  readonly notices: Notices;
  /** Has all events from now on go to another too. */
  readonly addListener: (listener: RunListener) => void;
}

/** Does the work of a run while observers follow it, and tells them how it ended. */
export async function followRun(
  {
    job,
    startedAtMs,
    worker,
    ...context
  }: ExportContext & { readonly job: Job; readonly startedAtMs: number; readonly worker?: string },
  work: (context: ObservedContext) => Promise<ExportOutcome>,
): Promise<ExportOutcome> {
  const run = context.run ?? uuidV7(startedAtMs);
  const beganMs = context.clock.monotonic();
  const notices = new Notices();
  const opened = await context.observe?.({ ...context, job, run, startedAtMs, worker, notices });
  const observer = endedOnce(opened ?? noObserver);
  try {
    const outcome = await withCredits(
      await work({ ...observed(braked(context, job), observer), run, beganMs, notices }),
      context,
      job,
    );
    await observer.end({ ...endOf(outcome, job), isElsewhere: worker !== undefined && outcome.state === 'already' });
    return outcome;
  } catch (error) {
    await observer.end(endOfError(error));
    throw error;
  }
}

/** An export that was complete has no run whose record says what its ledger holds. */
async function withCredits(
  outcome: ExportOutcome,
  { ledger, clock }: ExportContext,
  { budget }: Job,
): Promise<ExportOutcome> {
  if (outcome.state !== 'already' || budget.creditsPerDay === undefined) return outcome;
  const today = await ledger.booked(utcDay(clock.now())).catch(() => undefined);
  const creditsLeft = today === undefined ? null : (creditsLeftOf(budget, { today }) ?? null);
  return { ...outcome, account: { ...outcome.account, creditsLeft } };
}

function observed(
  context: Braked<ExportContext>,
  observer: RunObserver,
): Omit<ObservedContext, 'run' | 'beganMs' | 'notices'> {
  const listeners = [observer.listener, context.listener];
  const listener: RunListener = (event) => {
    for (const each of listeners) each(event);
  };
  return { ...context, observer, listener, addListener: (added) => listeners.unshift(added) };
}

export function endOf(outcome: ExportOutcome, job: Job, inputs: RunAccount['inputs'] = []): RunEnd {
  const { account, callsOfRun: calls, creditsOfRun: credits, state } = outcome;
  const error = errorOf(outcome, job);
  return {
    state: state === 'unfinished' ? 'stopped' : 'complete',
    exit: error?.exitCode ?? exitCodes.complete.code,
    ...saidOf(error),
    ...(outcome.lake === undefined ? {} : { lake: outcome.lake }),
    account: { ...account, inputs, calls, credits },
  };
}

export function endOfError(error: unknown): RunEnd {
  const known = error instanceof ExportError ? error : undefined;
  const exit = known?.exitCode ?? exitCodes.bug.code;
  return { state: 'stopped', exit, ...saidOf(known), error: messageOf(error) };
}

function saidOf(error: ExportError | undefined): Pick<RunEnd, 'error' | 'todo' | 'runAgainAt'> {
  const again = error?.why?.kind === 'spent' ? { runAgainAt: error.why.runAgainAt } : {};
  return { error: error?.message, todo: error?.todo, ...again };
}

/** A context in which calls are counted. */
type Braked<Context extends Pick<ExportContext, 'brake'>> = Context & { readonly brake: Brake };

/** Has the calls of a run counted, unless its caller counts those of several runs. */
export function braked<Context extends Pick<ExportContext, 'brake'>>(
  context: Context,
  { budget }: Pick<Job, 'budget'>,
): Braked<Context> {
  return { ...context, brake: context.brake ?? newBrake(budget) };
}

export function newBrake({ overrun }: Pick<Job['budget'], 'overrun'>): Brake {
  return new Brake({ overrun: overrunOf(overrun) });
}

/**
 * Plans the calls of ids that are requested from now on: by the job's size, or the dialect's where that is smaller.
 * @param planned calls that they take, as far as they were counted
 */
export function beginPlan({ brake }: Pick<ExportContext, 'brake'>, job: Pick<Job, 'service'>, planned?: number): void {
  brake?.begin({ idsPerCall: plannedSize(job), planned });
}
