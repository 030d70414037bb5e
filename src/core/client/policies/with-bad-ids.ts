import type { Asker, CallOutline } from '../asset-client.ts';
import type { Brake } from './brake.ts';

/** Tells the brake of ids that the service refuses, or that were found to spoil their calls. */
export function withBadIds<Call extends CallOutline>(inner: Asker<Call>, brake: Brake | undefined): Asker<Call> {
  return {
    ask: async (call) => {
      const answer = await inner.ask(call);
      if (answer.kind === 'refused' && answer.why !== 'size' && call.ids.length === 1) brake?.foundBadId();
      return answer;
    },
  };
}
