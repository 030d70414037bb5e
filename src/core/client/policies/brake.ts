import type { CallOutline } from '../asset-client.ts';
import {
  fixedOverrun,
  mostCalls,
  type Overrun,
  plannedCalls,
  type CallSums,
  type DepartingCall,
  PassedOverrun,
  type SharedPace,
} from './shared-pace.ts';
import { ExportError } from '../../../lib/export-error.ts';
import { count, plural } from '../../../lib/format-text.ts';

interface BrakeOptions {
  /** Undefined: no limit. */
  readonly overrun: Overrun | undefined;
  /** Of an export whose machines share a database, which counts their calls together, over all runs. */
  readonly fleet?: Pick<DepartingCall, 'export' | 'mostPlanned'> | undefined;
}

/** So many errors are named. */
const namedErrors = 3;

const nothing: CallSums = { planned: 0, sent: 0 };

/**
 * Ends a run that sends far more calls than its ids are worth: whatever a service does, the bill has a ceiling. There is one
 * for each run, over all its exports, slices and threads. It counts calls, also those at price 0, and never waits.
 */
export class Brake {
  readonly #options: BrakeOptions;
  /** Of each call, the attempts that count as sent, and what its ids are planned for. */
  readonly #left = new WeakMap<CallOutline, { attempts: number; readonly planned: number }>();
  #idsPerCall = 1;
  /** What the ids that left are worth, in calls, and the calls. */
  #sums = nothing;
  /** Calls that the exports of the run plan together, as far as they were counted. */
  #all = 0;
  /** Calls for what has a limit of its own. */
  #beside = 0;
  /** Ids that left of the export that was begun last. */
  #ids = 0;
  /** What the database of a fleet does not know yet: it goes with the next call. */
  #owed = nothing;
  #learned: number | undefined;
  #errors: readonly string[] = [];
  #badIds = 0;

  /** As the database of a fleet takes it. */
  readonly #ofFleet: DepartingCall['overrun'];

  constructor(options: BrakeOptions) {
    this.#options = options;
    this.#ofFleet = fixedOverrun(options.overrun, options.fleet?.mostPlanned ?? 0);
  }

  /**
   * Says how many ids a call has from now on. What the service teaches about it changes how calls are cut, and never this plan.
   * @param planned calls of the ids to come, as far as they were counted
   */
  begin({ idsPerCall, planned = 0 }: { readonly idsPerCall: number; readonly planned?: number | undefined }): void {
    this.#idsPerCall = idsPerCall;
    this.#all = plannedCalls(this.#sums.planned) + planned;
    this.#learned = undefined;
    this.#ids = 0;
  }

  /**
   * A run without ids plans so many calls by now: its calls are worth nothing of their own.
   * @param beside calls that were sent for what has a limit of its own
   */
  plans(calls: number, beside: number): void {
    this.#sums = { ...this.#sums, planned: Math.max(calls, this.#sums.planned) };
    this.#beside = beside;
  }

  /** The service takes at most so many ids: the further calls that it takes are overrun. */
  learned(cap: number): void {
    this.#learned = cap;
  }

  /**
   * Counts a call and takes its turn; resolves to how long it has to wait, in milliseconds.
   * @throws {ExportError} `overrun` when it would pass the limit: then it is not counted
   */
  async turn(call: CallOutline, take: (departure?: DepartingCall) => Promise<number>): Promise<number> {
    const { fleet } = this.#options;
    const planned = this.#add(call);
    const owed = this.#owed;
    this.#owed = nothing;
    try {
      if (fleet === undefined) this.#requireRoom();
      return await take(fleet && { ...fleet, ...sumOf(owed, { planned, sent: 1 }), overrun: this.#ofFleet });
    } catch (error) {
      this.#remove(call);
      // Of a statement without an answer, what it took back may be taken back.
      if (!(error instanceof PassedOverrun)) throw error;
      this.#owed = sumOf(this.#owed, owed);
      throw this.#error(error.sums);
    }
  }

  /** Whether more than half of the calls beyond the planned ones are sent. */
  get isHalfSpent(): boolean {
    const { overrun } = this.#options;
    if (overrun === undefined) return false;
    const planned = this.#planned;
    return 2 * (this.#sums.sent - plannedCalls(this.#sums.planned)) > mostCalls(planned, overrun) - planned;
  }

  /** Calls that are planned: those of ids that left, or all that were counted before the first one. */
  get #planned(): number {
    return Math.max(plannedCalls(this.#sums.planned), this.#all);
  }

  /** A call that was counted was not sent, or surely cost nothing. */
  returned(call: CallOutline): void {
    this.#owed = sumOf(this.#owed, { planned: -this.#remove(call), sent: -1 });
  }

  /** Tells the database of a fleet the rest, at the end of the run. */
  end(pace: SharedPace): void {
    const { fleet } = this.#options;
    if (fleet !== undefined && this.#owed !== nothing)
      pace.giveBack({ ...fleet, ...this.#owed, overrun: this.#ofFleet });
    this.#owed = nothing;
  }

  /** An attempt brought no answer, or a refusal. */
  failed(message: string): void {
    this.#errors = [message, ...this.#errors.filter((each) => each !== message)].slice(0, namedErrors);
  }

  foundBadId(): void {
    this.#badIds += 1;
  }

  /** Counts one more attempt of a call; gives what is planned with it. */
  #add(call: CallOutline): number {
    const left = this.#left.get(call) ?? { attempts: 0, planned: this.#worthOf(call) };
    this.#left.set(call, left);
    left.attempts += 1;
    const planned = left.attempts === 1 ? left.planned : 0;
    this.#sums = sumOf(this.#sums, { planned, sent: 1 });
    if (planned > 0) this.#ids += call.ids.length;
    return planned;
  }

  /** Counts one less; gives what is not planned then. */
  #remove(call: CallOutline): number {
    const left = this.#left.get(call);
    if (left === undefined) return 0;
    left.attempts -= 1;
    const planned = left.attempts === 0 ? left.planned : 0;
    this.#sums = sumOf(this.#sums, { planned: -planned, sent: -1 });
    if (planned > 0) this.#ids -= call.ids.length;
    return planned;
  }

  /** A batch may have few ids, and is planned with a call. The pieces of one that was not sent share what it is worth. */
  #worthOf({ ids, pieceOf, repeats }: CallOutline): number {
    if (repeats === true) return 0;
    const worth = ids.length / this.#idsPerCall;
    return pieceOf === undefined ? Math.max(1, worth) : worth;
  }

  /** @throws {PassedOverrun} */
  #requireRoom(): void {
    const { overrun } = this.#options;
    const { planned, sent } = this.#sums;
    if (overrun === undefined) return;
    if (sent <= mostCalls(this.#planned, overrun) + this.#beside) return;
    throw new PassedOverrun({ planned, sent: sent - 1 });
  }

  #error({ planned, sent }: CallSums) {
    return overrunError({
      planned: plannedCalls(planned),
      sent,
      ids: this.#ids,
      idsPerCall: this.#idsPerCall,
      learned: this.#learned,
      errors: this.#errors,
      badIds: this.#badIds,
    });
  }
}

function sumOf(one: CallSums, other: CallSums): CallSums {
  return { planned: one.planned + other.planned, sent: one.sent + other.sent };
}

/** What is known when a run has sent more calls than its ids are worth. */
interface OverrunFacts {
  /** Calls. */
  readonly planned: number;
  readonly sent: number;
  /** Ids that left. */
  readonly ids: number;
  /** Most ids a call, as the calls were planned. */
  readonly idsPerCall: number;
  /** The most that the service takes, if that is known. */
  readonly learned: number | undefined;
  /** The last errors of different words, the last one first. */
  readonly errors: readonly string[];
  /** Ids that the service refuses, or calls that hold them. */
  readonly badIds: number;
}

/** The run has passed its overrun: why, as far as it is known, and what to do. */
function overrunError(facts: OverrunFacts): ExportError {
  const { planned, sent, errors, badIds } = facts;
  const shrunk = shrunkText(facts);
  const planText = `${plural(planned, 'call')} ${planned === 1 ? 'was' : 'were'} planned so far and ${count(sent)} sent`;
  const message = [
    `${planText}: ${shrunk ?? 'the service refuses most of them'}.`,
    ...(errors.length === 0 ? [] : [`Last errors: ${errors.join('; ')}.`]),
    ...(badIds === 0 ? [] : [`Bad ids found so far: ${count(badIds)}.`]),
  ].join(' ');
  return new ExportError('overrun', message, {
    todo:
      shrunk === undefined
        ? 'When the service works, run the same command again: it resumes. To allow more calls, raise budget.overrun, for example --overrun 50%,1000.'
        : `asset-export plan prints the calls that are left: allow them with --overrun N and run the same command again. For the next export set service.idsPerCall: ${facts.learned ?? 1} (--ids-per-call).`,
    facts: { planned, sent, badIds },
  });
}

function shrunkText({ ids, idsPerCall, learned }: OverrunFacts): string | undefined {
  if (learned === undefined || learned >= idsPerCall) return undefined;
  const calls = plural(Math.ceil(ids / learned), 'call');
  return `the service takes at most ${plural(learned, 'id')} per call, not ${count(idsPerCall)}, so the ids so far need ${calls}`;
}
