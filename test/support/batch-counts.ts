import { createHash } from 'node:crypto';

export interface ServiceCounts {
  /** HTTP exchanges that named ids, or should have. */
  readonly calls: number;
  /** Ids in all of them, each as often as it was asked. */
  readonly idsAsked: number;
  /** Every batch, in the order of its first call. */
  readonly batches: readonly BatchCount[];
}

export interface BatchCount {
  readonly firstId: string;
  readonly ids: number;
  /** Calls for exactly these ids in this order. */
  readonly asked: number;
  /** Those of them whose answer left the service whole. */
  readonly answered: number;
}

type Counting = { -readonly [Member in keyof BatchCount]: BatchCount[Member] };

/** Counts calls by the ids they name. */
export class BatchCounts {
  private readonly batches = new Map<string, Counting>();
  private calls = 0;
  private idsAsked = 0;

  /** Counts a call; returns the name of its batch. */
  asked(ids: readonly string[]): string {
    this.calls += 1;
    this.idsAsked += ids.length;
    const name = createHash('sha1').update(ids.join()).digest('base64');
    const batch = this.batches.get(name) ?? { firstId: ids[0] ?? '', ids: ids.length, asked: 0, answered: 0 };
    batch.asked += 1;
    this.batches.set(name, batch);
    return name;
  }

  answered(name: string): void {
    const batch = this.batches.get(name);
    if (batch !== undefined) batch.answered += 1;
  }

  read(): ServiceCounts {
    return {
      calls: this.calls,
      idsAsked: this.idsAsked,
      batches: Array.from(this.batches.values(), (batch) => ({ ...batch })),
    };
  }
}
