import type { Clock } from '../../../lib/clock.ts';
import { ExportError } from '../../../lib/export-error.ts';
import type { Asker, AssetAnswer, CallOutline } from '../asset-client.ts';
import { AttemptError, statusOf } from '../attempt-error.ts';
import type { ClientListener } from '../client-events.ts';
import { Ends } from '../judgement/ends.ts';
import { Reuse } from '../wire/reuse.ts';

export interface ReuseOptions {
  readonly clock: Clock;
  readonly stop?: AbortSignal | undefined;
  readonly listener?: ClientListener | undefined;
}

/**
 * Sends a request once more, on a fresh connection, whose end says nothing of the service: at once where it was lost with a reused
 * connection, a second later where an answer would end the run that no other one confirms. The policies around hear only of the
 * second attempt. The budget hears of both: a request that was written may be charged.
 * A call sends itself, on a fresh connection where it is told so.
 * @param withPayment puts the budget around what sends
 */
export function withReuse<Call extends CallOutline & { readonly send: (fresh: boolean) => Promise<AssetAnswer> }>(
  withPayment: (sender: Asker<Call>) => Asker<Call>,
  { clock, stop, listener }: ReuseOptions,
): Asker<Call> {
  const reuse = new Reuse();
  const ends = new Ends();
  const leavesFresh = new WeakSet<Call>();
  /** How long calls wait whose refusal is doubted, in milliseconds. A call that is refused again is in trouble. */
  const waits = new WeakMap<Call, number>();
  let hasTold = false;

  function settle(isLost: boolean): void {
    if (!reuse.ended(isLost) || hasTold) return;
    hasTold = true;
    const message = 'the service, or a balancer before it, ends used connections: each request has its own from now on';
    listener?.({ kind: 'warning', message });
  }

  /** The error as the policies around shall see it. */
  function weighed(call: Call, error: unknown): unknown {
    if (!isEnd(error)) return error;
    const wait = ends.refused(clock.now());
    if (wait === 'believed') return error;
    const lost = !waits.has(call);
    waits.set(call, wait);
    const { message, unsent } = error;
    return new AttemptError('transport', message, { status: statusOf(error), unsent, lost, cause: error });
  }

  const paid = withPayment({
    ask: async (call) => {
      const fresh = leavesFresh.delete(call) || reuse.takesFresh();
      try {
        const answer = await call.send(fresh);
        if (!fresh) settle(false);
        ends.answered();
        return answer;
      } catch (cause) {
        if (!fresh) settle(isLost(cause));
        const error = weighed(call, cause);
        if (isLost(error)) leavesFresh.add(call);
        throw error;
      }
    },
  });
  return {
    ask: (call) =>
      paid.ask(call).catch(async (error: unknown) => {
        if (!isLost(error)) throw error;
        await clock.sleep(waits.get(call) ?? 0, stop);
        return paid.ask(call);
      }),
  };
}

function isLost(error: unknown): boolean {
  return error instanceof AttemptError && error.lost;
}

/** Whether it ends the run. */
function isEnd(error: unknown): error is AttemptError | ExportError {
  if (error instanceof AttemptError) return error.failure === 'spent' || error.failure === 'untrusted';
  return error instanceof ExportError && error.exit === 'notTrusted';
}
