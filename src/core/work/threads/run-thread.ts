import { setMaxListeners } from 'node:events';
import { journaled } from '../../client/policies/with-journal.ts';
import type { AbsenceDesk } from '../../client/second-answers.ts';
import { secretScrubber } from '../../client/wire/service-address.ts';
import { createWire } from '../../client/wire/http-client.ts';
import { thenCleanUp } from '../../../lib/end-work.ts';
import type { Batch } from '../../ids/batch-ids.ts';
import { tlsFor } from '../../job/tls-files.ts';
import type { PartsContext } from '../parts-context.ts';
import { openJournal } from '../../../places/scratch/journal.ts';
import { NobodyWaits } from '../fetch-batches.ts';
import { type PartFlow, partsOf } from '../part-flow.ts';
import type { RunListener } from '../run-events.ts';
import type { Bench, Desk, ThreadSettings } from './offers.ts';
import { packError, unpackError } from './packed-error.ts';
import {
  AttemptError,
  aloneIn,
  type AssetAnswer,
  type AssetCall,
  type AssetClient,
  noRecords,
  sentOver,
} from '../../client/asset-client.ts';
import { unpackBatch } from './group-parts.ts';
import { Peer, type Port } from './peer.ts';

/**
 * Runs a thread: it takes whole parts, and sends, checks, flattens and writes on its own. It requests parts and permission to
 * send from the coordinator, and nothing else. Resolves when it has reported its end.
 */
export async function runThread(
  port: Port,
  settings: ThreadSettings,
  effects: Pick<PartsContext, 'clock' | 'files' | 'openWire'>,
): Promise<void> {
  const abort = new AbortController();
  setMaxListeners(0, abort.signal);
  let remote: RemoteClient | undefined;
  const desk = new Peer<Desk>(
    port,
    benchOf(() => remote, abort),
  );
  const listener = eventsTo(desk);
  const { service, proxy, job } = settings;
  const { concurrency, timeoutMs } = job.service;
  const wire = createWire({
    ...effects,
    ...service,
    proxy,
    concurrency,
    timeoutMs,
    tls: tlsFor(service.url, job.service.tls),
    abort: abort.signal,
    listener,
  });
  const work = async (): Promise<void> => {
    const journal = await openJournal(effects.files, settings.scratch);
    const policiesAround = (wire: AssetClient): AssetClient => {
      remote = remoteClient(wire, (call) => desk.call('ask', call));
      return remote;
    };
    const client = journaled(wire, policiesAround, {
      journal,
      listener,
      scrub: secretScrubber([service.apiKey]),
      onHint: (kept) => {
        desk.tell('hint', kept);
      },
    });
    const parts = partsOf(batchesFrom(desk), {
      ...settings,
      ...effects,
      journal,
      client,
      absence: absenceAt(desk),
      firstPart: 1,
      ...reportsTo(desk, settings.thread),
    });
    await thenCleanUp({
      work: async () => {
        for await (const part of parts) desk.tell('finish', part);
      },
      cleanUp: [() => journal.close()],
    });
  };
  const failure = await work().then(() => undefined, packError);
  await wire.close();
  await desk.call('end', failure);
  desk.close(new NobodyWaits());
}

/** Absence is weighed for all threads together. */
function absenceAt(desk: Peer<Desk>): AbsenceDesk {
  return {
    judge: (call) => desk.call('judgeAbsence', call),
    witnesses: (room) => desk.call('witnesses', room),
    second: (answer) => desk.call('secondAnswer', answer),
    settle: (call) => {
      desk.tell('settleAbsence', call);
    },
  };
}

/** What a thread offers to the coordinator. @param remote undefined before there is a call */
function benchOf(remote: () => RemoteClient | undefined, abort: AbortController): Bench {
  const asked = (what: string): RemoteClient => {
    const client = remote();
    if (client === undefined) throw new Error(`${what} was sent that no thread asked for`);
    return client;
  };
  return {
    send: ({ callId, fresh }) => asked('a call').send(callId, fresh),
    sendAlone: ({ callId, id, fresh }) => asked('a control').sendAlone(callId, id, fresh),
    abort: (reason) => {
      abort.abort(unpackError(reason));
    },
  };
}

function eventsTo(desk: Peer<Desk>): RunListener {
  return (event) => {
    desk.mention('tellEvent', event);
  };
}

/** How a thread reports on the parts that it makes. */
function reportsTo(desk: Peer<Desk>, thread: number): Pick<PartFlow, 'onHolding' | 'onSettled' | 'halt'> {
  const listener = eventsTo(desk);
  return {
    onHolding: (holding) => {
      listener({ kind: 'holding', thread, ...holding });
    },
    onSettled: (counts) => {
      listener({ kind: 'settled', counts });
    },
    halt: (reason) => {
      desk.tell('halt', packError(reason));
    },
  };
}

async function* batchesFrom(desk: Peer<Desk>): AsyncGenerator<Batch, void, void> {
  for (;;) {
    const group = await desk.call('nextParts', undefined);
    if (group === undefined) return;
    for (const packed of group.batches) yield unpackBatch(packed);
  }
}

export interface RemoteClient extends AssetClient {
  /** One exchange for a call under way; of records only that they came. */
  send(callId: number, fresh: boolean): Promise<AssetAnswer>;
  /**
   * One exchange for one id of a call under way: an id, or where it stands in the call, from 0 up to 1.
   * @throws {AttemptError} `held` when the call is over: nothing was sent
   */
  sendAlone(callId: number, id: string | number, fresh: boolean): Promise<AssetAnswer>;
}

interface OpenCall {
  readonly call: AssetCall;
  answer: AssetAnswer | undefined;
}

/** A wire behind policies that run elsewhere: they decide when to send, and never see the records. */
export function remoteClient(wire: AssetClient, askPolicies: Desk['ask']): RemoteClient {
  const open = new Map<number, OpenCall>();
  let lastId = 0;
  return {
    ask: async (call) => {
      lastId += 1;
      const id = lastId;
      const mine: OpenCall = { call, answer: undefined };
      open.set(id, mine);
      try {
        const answer = await askPolicies({
          id,
          ids: { length: call.ids.length, first: call.ids.first },
          pieceOf: call.pieceOf,
          repeats: call.repeats,
        });
        if (answer.kind === 'refused') return answer;
        if (mine.answer === undefined) throw new Error('policies took a call for answered that was not sent');
        return mine.answer;
      } finally {
        open.delete(id);
      }
    },
    send: async (callId, fresh) => {
      const mine = open.get(callId);
      if (mine === undefined) throw new Error('policies sent a call that was not asked');
      const answer = await wire.ask(sentOver(mine.call, fresh));
      mine.answer = answer;
      if (answer.kind === 'refused') return answer;
      return { ...noRecords, latencyMs: answer.latencyMs, isEmpty: answer.records?.count === 0 };
    },
    sendAlone: async (callId, id, fresh) => {
      const mine = open.get(callId);
      if (mine === undefined) throw new AttemptError('held', 'its call is over', { unsent: true });
      const answer = await wire.ask(sentOver(aloneIn(mine.call, id), fresh));
      if (answer.kind === 'refused') return answer;
      answer.release?.();
      return noRecords;
    },
  };
}
