import type { Asker, CallOutline } from './asset-client.ts';
import type { ClientListener } from './client-events.ts';

export interface SizeGuardOptions {
  /** Most ids a call, as an earlier run of the same export found out; absent: not known. */
  readonly initialCap?: number | undefined;
  readonly listener?: ClientListener | undefined;
}

export interface SizeGuard<Call> extends Asker<Call> {
  /** Most ids a call that the service has not refused; Infinity as long as it refused none. */
  cap(): number;
  /** Takes a refusal into account that was met in the journal, where an earlier run had left it. */
  readonly learn: (refusedIds: number) => void;
}

/** Remembers which size the service refused, and refuses larger calls without sending them. */
export function withSizeGuard<Call extends CallOutline>(
  inner: Asker<Call>,
  options: SizeGuardOptions,
): SizeGuard<Call> {
  let cap = options.initialCap ?? Number.POSITIVE_INFINITY;
  const learn = (refusedIds: number): void => {
    // Rounded up: the larger half of a split call is of this size.
    const half = Math.max(1, Math.ceil(refusedIds / 2));
    if (half >= cap) return;
    cap = half;
    options.listener?.({ kind: 'shrunk', cap });
  };
  const learning: Asker<Call> = {
    ask: async (call) => {
      const answer = await inner.ask(call);
      if (answer.kind === 'refused' && answer.why === 'size') learn(call.ids.length);
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
