import type { AssetClient } from '../../client/asset-client.ts';
import { callKey } from '../../client/call-body.ts';
import { type AnswerEntry, type AnswerJournal, keptBytes } from '../../client/with-journal.ts';
import type { FileStore } from '../../store/file-store.ts';
import { OwnJournals } from '../../store/own-journals.ts';
import type { Desk, ThreadSettings } from './offers.ts';
import type { Peer } from './peer.ts';

export interface ThreadJournalTools {
  readonly desk: Peer<Desk>;
  readonly files: FileStore;
}

/** The journal of a thread: what it keeps lies in files of its own, what earlier runs kept is the coordinator's. */
export class ThreadJournal implements AnswerJournal {
  readonly #own: OwnJournals;
  readonly #desk: Peer<Desk>;
  readonly #hasKept: boolean;
  /** Answers that were kept as they arrived, until they reach their place in the order of wrappers. */
  readonly #arrived = new Set<string>();

  constructor({ job, journalNumber, hasKept }: ThreadSettings, { desk, files }: ThreadJournalTools) {
    this.#own = new OwnJournals(files, job.output.dir, journalNumber);
    this.#desk = desk;
    this.#hasKept = hasKept;
  }

  async find(key: string): Promise<Uint8Array | undefined> {
    return this.#hasKept ? this.#desk.call('find', key) : undefined;
  }

  async append(entry: AnswerEntry): Promise<void> {
    if (!this.#arrived.delete(entry.key)) await this.#own.append(entry);
  }

  /**
   * Keeps each answer before the policies hear of it: they give its slot to another call, of another thread, and a crash
   * must repeat no more calls than there are slots.
   */
  keeping(wire: AssetClient): AssetClient {
    return {
      ask: async (call) => {
        const answer = await wire.ask(call);
        const key = callKey(call);
        await this.#own.append({ key, part: call.part, body: keptBytes(answer) });
        this.#arrived.add(key);
        return answer;
      },
    };
  }

  /** Makes the answers of a part, and of those before it, safe: it is about to be committed. */
  async syncThrough(part: number): Promise<void> {
    await this.#own.sync();
    await this.#own.closeThrough(part);
  }

  async close(): Promise<void> {
    await this.#own.closeThrough(Number.POSITIVE_INFINITY);
  }
}
