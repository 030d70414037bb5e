import type { Asker, AssetAnswer, CallOutline } from '../asset-client.ts';
import { AttemptError } from '../attempt-error.ts';
import type { ClientListener } from '../client-events.ts';
import { Reuse } from '../wire/reuse.ts';

/**
 * Sends a request that was lost with a reused connection once more at once, on a fresh one. The policies around hear only of the
 * second attempt. The budget hears of both: a request that was written may be charged.
 * A call sends itself, on a fresh connection where it is told so.
 * @param withPayment puts the budget around what sends
 */
export function withReuse<Call extends CallOutline & { readonly send: (fresh: boolean) => Promise<AssetAnswer> }>(
  withPayment: (sender: Asker<Call>) => Asker<Call>,
  listener: ClientListener | undefined,
): Asker<Call> {
  const reuse = new Reuse();
  const wasLost = new WeakSet<Call>();
  let hasTold = false;

  function settle(isLost: boolean): void {
    if (!reuse.ended(isLost) || hasTold) return;
    hasTold = true;
    const message = 'the service, or a balancer before it, ends used connections: each request has its own from now on';
    listener?.({ kind: 'warning', message });
  }

  const paid = withPayment({
    ask: async (call) => {
      const fresh = wasLost.delete(call) || reuse.takesFresh();
      try {
        const answer = await call.send(fresh);
        if (!fresh) settle(false);
        return answer;
      } catch (error) {
        if (!fresh) settle(isLost(error));
        if (isLost(error)) wasLost.add(call);
        throw error;
      }
    },
  });
  return {
    ask: (call) =>
      paid.ask(call).catch((error: unknown) => {
        if (isLost(error)) return paid.ask(call);
        throw error;
      }),
  };
}

function isLost(error: unknown): boolean {
  return error instanceof AttemptError && error.lost;
}
