import type { AssetClient } from './asset-client.ts';
import { callKey } from './call-body.ts';
import { type AnswerEntry, type AnswerJournal, keptBytes } from './with-journal.ts';

/**
 * A journal in which answers are written as they arrive, before the policies hear of them: they give its slot to another call,
 * and a crash must repeat no more calls than there are slots.
 */
export class ArrivalJournal implements AnswerJournal {
  readonly #journal: AnswerJournal;
  /** Answers that are written, until they reach their place in the order of wrappers. */
  readonly #arrived = new Set<string>();

  constructor(journal: AnswerJournal) {
    this.#journal = journal;
  }

  find(key: string): Promise<Uint8Array | undefined> {
    return this.#journal.find(key);
  }

  async append(entry: AnswerEntry): Promise<void> {
    if (!this.#arrived.delete(entry.key)) await this.#journal.append(entry);
  }

  /** The wire, whose every answer is kept. */
  keeping(wire: AssetClient): AssetClient {
    return {
      ask: async (call) => {
        const answer = await wire.ask(call);
        const key = callKey(call);
        await this.#journal.append({ key, part: call.part, body: keptBytes(answer) });
        this.#arrived.add(key);
        return answer;
      },
    };
  }
}
