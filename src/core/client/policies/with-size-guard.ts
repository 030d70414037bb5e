import type { Asker, CallOutline, RefusedAnswer } from '../asset-client.ts';
import { type AnsweredSize, CallSizes, namedLimit } from './call-sizes.ts';
import type { ClientListener } from '../client-events.ts';

export interface SizeGuardOptions {
  /** Most ids a call, as an earlier run of the same export found out; absent: not known. */
  readonly initialCap?: number | undefined;
  readonly listener?: ClientListener | undefined;
  /** Called when the most ids a call became known for sure. */
  readonly onCap?: ((ids: number) => void) | undefined;
}

export interface SizeGuard<Call> extends Asker<Call> {
  /** Most ids a call, once that is known for sure; Infinity as long as it is not. */
  cap(): number;
  /** Whether the service is known to refuse calls of so many ids. */
  readonly refuses: (ids: number) => boolean;
  /** Refuses what is known to be too large without sending it; undefined for other calls. */
  readonly refusal: (call: Call) => RefusedAnswer | undefined;
  /** Takes an answer into account that was met in the journal, where an earlier run had left it. */
  readonly learn: (size: AnsweredSize) => void;
}

/**
 * Learns which sizes the service takes, and refuses larger calls without sending them. While that is being found out, one
 * call at a time tries a new size, so that few are refused. One record that is too large for any answer is refused in calls
 * of all sizes, and calls for other records keep theirs.
 */
export function withSizeGuard<Call extends CallOutline>(
  inner: Asker<Call>,
  options: SizeGuardOptions,
): SizeGuard<Call> {
  const sizes = new CallSizes(options.initialCap);
  const learn = learning(sizes, options);
  let probe: Promise<void> | undefined;

  async function send(call: Call) {
    const answer = await inner.ask(call);
    const ids = call.ids.length;
    if (answer.kind === 'records') learn({ ids, isTaken: true });
    else if (answer.why === 'size') {
      const isBelieved = learn({ ids, isTaken: false, limit: namedLimit(answer.message, ids) });
      if (isBelieved) return { ...answer, ...sizes.insteadOf(ids) };
    }
    return answer;
  }

  function refuse({ ids }: Call): RefusedAnswer {
    const message = `the service accepts fewer than ${ids.length} ids per call`;
    return { kind: 'refused', why: 'size', message, doubtful: false, unsent: true, ...sizes.insteadOf(ids.length) };
  }

  function refusal(call: Call): RefusedAnswer | undefined {
    return sizes.refuses(call.ids.length) ? refuse(call) : undefined;
  }

  async function tryOut(call: Call) {
    const sent = send(call);
    const over = sent.then(
      () => undefined,
      () => undefined,
    );
    probe = over;
    try {
      return await sent;
    } finally {
      if (probe === over) probe = undefined;
    }
  }

  return {
    ask: async (call) => {
      const ids = call.ids.length;
      while (sizes.isOpen(ids) && probe !== undefined) await probe;
      if (sizes.isOpen(ids)) return ids > sizes.next() ? refuse(call) : tryOut(call);
      return refusal(call) ?? send(call);
    },
    cap: () => sizes.cap(),
    refuses: (ids) => sizes.refuses(ids),
    refusal,
    learn,
  };
}

/** Learns sizes, and reports what they change. Returns whether an answer is believed. */
function learning(sizes: CallSizes, { listener, onCap }: SizeGuardOptions): (size: AnsweredSize) => boolean {
  let told = sizes.cap();
  let known = sizes.cap();
  return (size) => {
    const isBelieved = sizes.learn(size);
    if (sizes.cap() !== known && sizes.cap() < Number.POSITIVE_INFINITY) onCap?.(sizes.cap());
    known = sizes.cap();
    if (!sizes.refuses(Number.MAX_SAFE_INTEGER) || sizes.next() === told) return isBelieved;
    told = sizes.next();
    listener?.({ kind: 'shrunk', cap: told });
    return isBelieved;
  };
}

/** Refuses calls of more ids than the service takes, as far as that is known, before they wait for anything. */
export function withoutLargeCalls<Call extends CallOutline>(
  inner: Asker<Call>,
  guard: Pick<SizeGuard<Call>, 'refusal'>,
): Asker<Call> {
  return { ask: async (call) => guard.refusal(call) ?? inner.ask(call) };
}
