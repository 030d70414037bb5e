import type { Asker, CallOutline } from './asset-client.ts';
import type { ClientListener } from './client-events.ts';

export interface SizeGuardOptions {
  /** Most ids a call, as an earlier run of the same export found out; absent: not known. */
  readonly initialCap?: number | undefined;
  readonly listener?: ClientListener | undefined;
}

/** What an answer tells of the size of its call. */
export interface AnsweredSize {
  readonly ids: number;
  /** False: the service refused the call for its size. */
  readonly isTaken: boolean;
}

export interface SizeGuard<Call> extends Asker<Call> {
  /** Most ids a call that the service has not refused; Infinity as long as it refused none. */
  cap(): number;
  /** Takes an answer into account that was met in the journal, where an earlier run had left it. */
  readonly learn: (size: AnsweredSize) => void;
}

/**
 * Remembers which size the service refused, and refuses larger calls without sending them. One record that is too large for
 * any answer is refused in calls of all sizes, and those of others stay as they are.
 */
export function withSizeGuard<Call extends CallOutline>(
  inner: Asker<Call>,
  options: SizeGuardOptions,
): SizeGuard<Call> {
  let cap = options.initialCap ?? Number.POSITIVE_INFINITY;
  /** Most ids that were answered since a call of as many was refused. */
  let mostTaken = 0;
  const learn = ({ ids, isTaken }: AnsweredSize): void => {
    if (isTaken) {
      mostTaken = Math.max(mostTaken, ids);
      return;
    }
    // As many went well just now: it is the records of this call that are too large. If not, the next refusal tells.
    const isOfRecords = mostTaken >= ids;
    mostTaken = Math.min(mostTaken, ids - 1);
    if (isOfRecords) return;
    // Rounded up: the larger half of a split call is of this size.
    const half = Math.max(1, Math.ceil(ids / 2));
    if (half >= cap) return;
    cap = half;
    options.listener?.({ kind: 'shrunk', cap });
  };
  const learning: Asker<Call> = {
    ask: async (call) => {
      const answer = await inner.ask(call);
      const isTaken = answer.kind === 'records';
      if (isTaken || answer.why === 'size') learn({ ids: call.ids.length, isTaken });
      return answer;
    },
  };
  return { ...withoutLargeCalls(learning, () => cap), cap: () => cap, learn };
}

/** Refuses calls of more ids than the service takes, as far as that is known, without sending them. */
export function withoutLargeCalls<Call extends CallOutline>(inner: Asker<Call>, cap: () => number): Asker<Call> {
  return {
    ask: async (call) => {
      if (call.ids.length <= cap()) return inner.ask(call);
      const message = `the service takes at most ${cap()} ids a call`;
      return { kind: 'refused', why: 'size', message, doubtful: false, unsent: true };
    },
  };
}
