import type { AssetAnswer, Asker, CallOutline, RefusedAnswer, ClientListener } from '../asset-client.ts';
import { CallSize, namedLimit, type SizeBounds } from '../judgement/call-size.ts';
import { ExportError } from '../../../lib/export-error.ts';
import { plural } from '../../../lib/format-text.ts';
import type { ControlOf } from './with-judgement.ts';
import type { Ended } from './day-gate.ts';

export interface SizeGuardOptions<Call> extends SizeBounds {
  readonly listener?: ClientListener | undefined;
  /** Called when the most ids a call came to be believed. */
  readonly onCap?: ((ids: number) => void) | undefined;
  /** Requests one id of a call alone. */
  readonly controlOf: ControlOf<Call>;
  readonly ended: Ended;
}

export interface SizeGuard<Call> extends Asker<Call> {
  /** Most ids a call, once that is believed; Infinity as long as it is not. */
  cap(): number;
  /** Whether the service is believed to refuse calls of so many ids. */
  readonly refuses: (ids: number) => boolean;
  /** Takes into account what an earlier run learned. */
  readonly hints: (most: number) => void;
}

const nothing = (): void => undefined;

/** Where the ids of a call stand that are requested alone: the first and the last. */
const ends = [0, 1 - Number.EPSILON];

/**
 * Learns which sizes the service takes, and refuses larger calls without sending them. While that is being found out, one
 * call at a time tries a new size, so that few are refused. One record that is too large for any answer is refused in calls
 * of all sizes, and calls for other records keep theirs. A service that takes no call at all ends the run after three.
 */
export function withSizeGuard<Call extends CallOutline>(
  inner: Asker<Call>,
  options: SizeGuardOptions<Call>,
): SizeGuard<Call> {
  const sizes = new CallSize(options);
  const report = reporting(sizes, options);
  let probe: Promise<void> | undefined;

  async function send(call: Call, isAgain = false): Promise<AssetAnswer> {
    const knew = sizes.counted;
    const answer = await inner.ask(call);
    const ids = call.ids.length;
    if (answer.kind === 'records') {
      sizes.taken(ids);
      report();
    } else if (answer.why === 'size') {
      const limit = namedLimit(answer.message, ids);
      if (limit === undefined && !sizes.hasAnswered) {
        await requireAnyAnswer(inner, call, answer, options);
        sizes.taken(1);
      }
      const verdict = sizes.refusedFor({ ids, first: call.ids.first, limit, knew });
      report();
      if (verdict === 'smaller') return { ...answer, ...sizes.insteadOf(ids) };
      if (verdict === 'again' && !isAgain) return send(call, true);
    }
    return answer;
  }

  const refuse = ({ ids }: Call): RefusedAnswer =>
    unsent(sizes, ids.length, probe === undefined ? sizes.trial() : undefined);

  async function tryOut(call: Call) {
    const sent = send(call);
    const over = sent.then(nothing, nothing);
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
      if (sizes.refuses(ids)) return refuse(call);
      return ids === sizes.trial() ? tryOut(call) : send(call);
    },
    cap: () => sizes.cap(),
    refuses: (ids) => sizes.refuses(ids),
    hints: (most) => {
      sizes.hints(most);
    },
  };
}

/** A refusal without a call. @param trial the size that is due to be tried */
function unsent(sizes: CallSize, ids: number, trial: number | undefined): RefusedAnswer {
  const message = `the service accepts fewer than ${ids} ids per call`;
  const instead = trial === undefined ? sizes.insteadOf(ids) : { tries: trial };
  return { kind: 'refused', why: 'size', message, doubtful: false, unsent: true, ...instead };
}

/**
 * Requests two ids of a call alone, or its one id once more, where nothing was answered yet.
 * @throws {ExportError} `unavailable` where they are refused for their size, too
 */
async function requireAnyAnswer<Call extends CallOutline>(
  inner: Asker<Call>,
  call: Call,
  { message }: RefusedAnswer,
  { controlOf, ended }: Pick<SizeGuardOptions<Call>, 'controlOf' | 'ended'>,
): Promise<void> {
  const isOne = call.ids.length === 1;
  for (const end of isOne ? ends.slice(1) : ends) {
    const answer = await inner.ask(isOne ? call : controlOf(call, end));
    if (answer.kind === 'refused' && answer.why === 'size') continue;
    if (answer.kind === 'records') answer.release?.();
    return;
  }
  const error = takesNothing(call.ids.length, message);
  ended.end(error);
  throw error;
}

/** Reports what is believed, whenever that changed. */
function reporting(sizes: CallSize, { listener, onCap }: Pick<SizeGuardOptions<never>, 'listener' | 'onCap'>) {
  let told = sizes.cap();
  let known = sizes.cap();
  return (): void => {
    if (sizes.cap() !== known && sizes.cap() < Number.POSITIVE_INFINITY) onCap?.(sizes.cap());
    known = sizes.cap();
    if (!sizes.refuses(Number.MAX_SAFE_INTEGER) || sizes.next() === told) return;
    told = sizes.next();
    listener?.({ kind: 'shrunk', cap: told });
  };
}

function takesNothing(ids: number, message: string): ExportError {
  const what = ids === 1 ? 'a call of one id, twice' : `a call of ${plural(ids, 'id')}, and single ids too`;
  return new ExportError('unavailable', `The service refuses ${what}, for their size: ${message}.`, {
    todo: 'Check service.url, and the limit of request bodies of any proxy before the service. Then run the same command again.',
    facts: { explanation: 'size' },
  });
}
