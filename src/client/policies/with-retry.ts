import type { AssetAnswer, Asker, CallOutline, RefusedAnswer } from '../asset-client.ts';
import { AttemptError } from '../attempt-error.ts';
import type { ServiceState } from './blame.ts';
import { FirstAnswer } from './first-answer.ts';
import { Tries, type TriesOptions } from './tries.ts';

/**
 * Repeats attempts that brought nothing definite.
 * An error that stays while other calls go well, and a doubtful one, becomes a refusal, so that one bad id cannot block an
 * export: halving finds it.
 */
export function withRetry<Call extends CallOutline>(inner: Asker<Call>, options: TriesOptions): Asker<Call> {
  const { stop } = options;
  const service: ServiceState = {
    ...{ answered: 0, doubtfulInRow: 0, doubtsAtFirst: 0 },
    ...{ cutsUnanswered: 0, failuresUnanswered: 0, wholes: 0, gaveUp: false },
  };
  const first = new FirstAnswer(options.clock, stop);

  function answered(answer: AssetAnswer): void {
    if (answer.kind === 'refused' && answer.why === 'size') return;
    first.open();
    service.answered += 1;
    service.cutsUnanswered = 0;
    service.failuresUnanswered = 0;
    service.gaveUp = false;
    if (answer.kind === 'records') service.doubtfulInRow = 0;
  }

  async function ask(call: Call): Promise<AssetAnswer> {
    const tries = new Tries(call, service, options);
    for (;;) {
      stop?.throwIfAborted();
      if (service.broken !== undefined) throw service.broken;
      tries.begin();
      try {
        const answer = await inner.ask(call);
        answered(answer);
        return answer;
      } catch (error) {
        if (!(error instanceof AttemptError)) throw error;
        stop?.throwIfAborted();
        const isOfForm = error.failure === 'doubtful' && !error.patient;
        if (!isOfForm && error.failure !== 'untrusted') first.open();
        const refusal = tries.failed(error);
        if (refusal !== undefined) return refusal;
        await tries.wait(error);
        if (isOfForm && call.pieceOf !== undefined) await first.letOthers();
      }
    }
  }

  return {
    ask: async (call) => {
      const whole = call.pieceOf === undefined ? 1 : 0;
      service.wholes += whole;
      let hasPieces = false;
      try {
        await first.enter(call);
        // The whole call seems to be refused for its form: a call with one id shows that as well.
        const isOdd = service.answered === 0 && service.doubtsAtFirst > 0;
        const answer = isOdd && call.ids.length > 1 ? oneIdFirst : await ask(call);
        hasPieces = answer.kind === 'refused' && answer.why !== 'size' && call.ids.length > 1;
        return answer;
      } finally {
        service.wholes -= whole;
        first.leave(hasPieces);
      }
    },
  };
}

const oneIdFirst: RefusedAnswer = {
  kind: 'refused',
  why: 'id',
  message: 'not sent at full size, because no call was answered yet',
  doubtful: true,
  unsent: true,
  cutAt: 1,
};
