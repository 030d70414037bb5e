import type { AnswerEntry, AnswerJournal } from '../../client/with-journal.ts';
import type { OwnJournals } from '../../store/own-journals.ts';
import type { Desk } from './offers.ts';
import type { Peer } from './peer.ts';

export interface KeptBefore {
  readonly desk: Peer<Desk>;
  /** Whether earlier runs kept anything. */
  readonly hasKept: boolean;
}

/** The journal of a thread: what it keeps lies in files of its own, what earlier runs kept is the coordinator's. */
export class ThreadJournal implements AnswerJournal {
  readonly #own: OwnJournals;
  readonly #desk: Peer<Desk>;
  readonly #hasKept: boolean;
  /** The last part whose answers are safe, and their file closed. */
  #safeThrough = -1;

  constructor(own: OwnJournals, { desk, hasKept }: KeptBefore) {
    this.#own = own;
    this.#desk = desk;
    this.#hasKept = hasKept;
  }

  async find(key: string): Promise<Uint8Array | undefined> {
    return this.#hasKept ? this.#desk.call('find', key) : undefined;
  }

  async append(entry: AnswerEntry): Promise<void> {
    // A refusal may be believed only after its part was written: it is asked again where the run ends before that counts.
    if (entry.part > this.#safeThrough) await this.#own.append(entry);
  }

  /** Makes the answers of a part, and of those before it, safe: it is about to be committed. */
  async syncThrough(part: number): Promise<void> {
    await this.#own.sync();
    this.#safeThrough = part;
    await this.#own.closeThrough(part);
  }

  async close(): Promise<void> {
    await this.#own.closeThrough(Number.POSITIVE_INFINITY);
  }
}
