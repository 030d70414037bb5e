import type { AssetClient } from '../../client/asset-client.ts';
import { callKey } from '../../client/call-body.ts';
import { lookUpBatch } from '../../client/look-up-batch.ts';
import { keptBytes } from '../../client/with-journal.ts';
import type { Job } from '../../job/job-schema.ts';
import type { Batch } from '../batch-ids.ts';
import type { KeptAnswer } from './offers.ts';

interface Asked {
  readonly answers: Promise<readonly KeptAnswer[]>;
  /** Stretches that have not fetched them. */
  open: number;
}

/** The answers of batches that two stretches need: each is asked for here, once, and kept until both have them. */
export class SharedAnswers {
  readonly #client: AssetClient;
  readonly #service: Job['service'];
  /** By the number of the batch's first entry. */
  readonly #asked = new Map<number, Asked>();

  constructor(client: AssetClient, service: Job['service']) {
    this.#client = client;
    this.#service = service;
  }

  ask(batch: Batch): void {
    const answers = this.#answersTo(batch);
    // A failure is met by whoever fetches them.
    answers.catch(() => undefined);
    this.#asked.set(batch.first, { answers, open: 2 });
  }

  fetch(first: number): Promise<readonly KeptAnswer[]> {
    const asked = this.#asked.get(first);
    if (asked === undefined) throw new Error(`no thread shares the batch from entry ${first}`);
    asked.open -= 1;
    if (asked.open === 0) this.#asked.delete(first);
    return asked.answers;
  }

  /** Resolves when nothing is in flight: what came is kept. */
  async settled(): Promise<void> {
    await Promise.allSettled([...this.#asked.values()].map(({ answers }) => answers));
  }

  async #answersTo({ ids, part }: Batch): Promise<KeptAnswer[]> {
    const { flags, singles } = this.#service;
    const kept: KeptAnswer[] = [];
    const keeping: AssetClient = {
      ask: async (call) => {
        const answer = await this.#client.ask(call);
        kept.push({ key: callKey(call), body: keptBytes(answer) });
        return answer;
      },
    };
    await lookUpBatch(keeping, { ids, part, flags, singles });
    return kept;
  }
}
