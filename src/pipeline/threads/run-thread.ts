import { setMaxListeners } from 'node:events';
import { ArrivalJournal } from '../../client/arrival-journal.ts';
import type { AssetClient } from '../../client/asset-client.ts';
import { createWire } from '../../client/create-wire.ts';
import { type AnswerJournal, withJournal } from '../../client/with-journal.ts';
import type { Batch } from '../batch-ids.ts';
import type { ExportContext } from '../export-context.ts';
import { OwnJournals } from '../../store/own-journals.ts';
import { NobodyWaits } from '../fetch-batches.ts';
import { partsOf } from '../part-flow.ts';
import type { RunListener } from '../run-events.ts';
import type { Bench, Desk, ThreadSettings } from './offers.ts';
import { packError, unpackError } from './packed-error.ts';
import { unpackBatch } from './packed-batch.ts';
import { Peer, type Port } from './peer.ts';
import { remoteClient } from './remote-client.ts';
import { ThreadJournal } from './thread-journal.ts';

export type ThreadEffects = Pick<ExportContext, 'clock' | 'files' | 'openWire'>;

/**
 * What a thread does: takes stretches of whole parts, and sends, checks, flattens and writes for itself. It asks the
 * coordinator for stretches, for leave to send, and for nothing else. Resolves when it has told how it ended.
 */
export async function runThread(port: Port, settings: ThreadSettings, effects: ThreadEffects): Promise<void> {
  const abort = new AbortController();
  setMaxListeners(0, abort.signal);
  const bench: Bench = {
    send: (callId) => remote.send(callId),
    abort: (reason) => {
      abort.abort(unpackError(reason));
    },
  };
  const desk = new Peer<Desk>(port, bench);
  const listener: RunListener = (event) => {
    desk.mention('tellEvent', event);
  };
  const { service, proxy, job } = settings;
  const { concurrency, timeoutMs } = job.service;
  const wire = createWire({ ...effects, ...service, proxy, concurrency, timeoutMs, abort: abort.signal, listener });
  const own = new OwnJournals(effects.files, job.output.dir, settings.journalNumber);
  const journal = new ThreadJournal(own, { desk, hasKept: settings.hasKept });
  const arrivals = new ArrivalJournal(journal);
  const remote = remoteClient(arrivals.keeping(wire), (call) => desk.call('ask', call));
  let failure: unknown;
  try {
    await makeStretches(settings, { desk, remote, journal, arrivals, listener, ...effects });
  } catch (error) {
    failure = error;
  } finally {
    await wire.close();
  }
  await desk.call('end', failure === undefined ? undefined : packError(failure));
  desk.close(new NobodyWaits());
}

interface ThreadTools extends ThreadEffects {
  readonly desk: Peer<Desk>;
  readonly remote: AssetClient;
  readonly journal: ThreadJournal;
  readonly arrivals: ArrivalJournal;
  readonly listener: RunListener;
}

async function makeStretches(settings: ThreadSettings, tools: ThreadTools): Promise<void> {
  const { desk, remote, journal, arrivals, listener, files } = tools;
  const inbox = new Inbox(desk);
  const kept = withJournal(remote, {
    journal: arrivals,
    listener,
    onReplayed: (size) => {
      desk.tell('learnSize', size);
    },
  });
  const parts = partsOf(inbox.batches(), {
    ...{ ...settings, files, firstPart: 1 },
    client: withJournal(kept, { journal: inbox.journal }),
    isNeeded: (part) => inbox.parts.has(part),
    onHolding: (holding) => {
      listener({ kind: 'holding', thread: settings.thread, ...holding });
    },
    halt: (reason) => {
      desk.tell('halt', packError(reason));
    },
  });
  try {
    for await (const part of parts) {
      await journal.syncThrough(part.part);
      desk.tell('finish', part);
    }
  } finally {
    await journal.close();
  }
}

/** What the coordinator hands to a thread. */
class Inbox {
  readonly parts = new Set<number>();
  /** Answers that a neighbour needs too. Each is looked for once, by the stage that asks. */
  readonly journal: AnswerJournal = {
    find: (key) => {
      const body = this.#kept.get(key);
      this.#kept.delete(key);
      return Promise.resolve(body);
    },
    append: () => Promise.resolve(),
  };
  readonly #kept = new Map<string, Uint8Array>();
  readonly #desk: Peer<Desk>;

  constructor(desk: Peer<Desk>) {
    this.#desk = desk;
  }

  async *batches(): AsyncGenerator<Batch, void, void> {
    for (;;) {
      const stretch = await this.#desk.call('nextStretch', undefined);
      if (stretch === undefined) return;
      for (const part of stretch.parts) this.parts.add(part);
      for (const packed of stretch.batches) {
        if (packed.isShared) await this.#fetchShared(packed.first);
        yield unpackBatch(packed);
      }
    }
  }

  async #fetchShared(from: number): Promise<void> {
    for (const { key, body } of await this.#desk.call('sharedAnswers', from)) this.#kept.set(key, body);
  }
}
