import type { AssetAnswer, AssetCall, AssetClient } from '../../client/asset-client.ts';
import { noRecords } from '../../client/no-records.ts';
import type { NumberedCall } from './offers.ts';

export interface RemoteClient extends AssetClient {
  /** One exchange for a call under way; of records only that they came. */
  send(callId: number): Promise<AssetAnswer>;
}

interface OpenCall {
  readonly call: AssetCall;
  answer: AssetAnswer | undefined;
}

/** A wire behind policies that run elsewhere: they decide when to send, and never see the records. */
export function remoteClient(
  wire: AssetClient,
  askPolicies: (call: NumberedCall) => Promise<AssetAnswer>,
): RemoteClient {
  const open = new Map<number, OpenCall>();
  let lastId = 0;
  return {
    ask: async (call) => {
      lastId += 1;
      const id = lastId;
      const mine: OpenCall = { call, answer: undefined };
      open.set(id, mine);
      try {
        const answer = await askPolicies({ id, ids: { length: call.ids.length, first: call.ids.first } });
        if (answer.kind === 'refused') return answer;
        if (mine.answer === undefined) throw new Error('policies took a call for answered that was not sent');
        return mine.answer;
      } finally {
        open.delete(id);
      }
    },
    send: async (callId) => {
      const mine = open.get(callId);
      if (mine === undefined) throw new Error('policies sent a call that was not asked');
      const answer = await wire.ask(mine.call);
      mine.answer = answer;
      return answer.kind === 'records' ? noRecords : answer;
    },
  };
}
