import type { AssetStore } from './asset-store.ts';
import { generatedRecord, isMissing } from '../generated/generated-assets.ts';
import { recordOf, type StoredRecord } from './stored-record.ts';

/** A store that generates the record of any id, always the same one. Some ids are missing. */
export class GeneratedStore implements AssetStore {
  readonly count = Number.POSITIVE_INFINITY;
  readonly #missingPercent: number;

  constructor(missingPercent: number) {
    this.#missingPercent = missingPercent;
  }

  get(id: string): StoredRecord | undefined {
    if (isMissing(id, this.#missingPercent)) return undefined;
    const text = generatedRecord(id);
    return recordOf(Buffer.from(text), JSON.parse(text) as Record<string, unknown>);
  }

  async close(): Promise<void> {
    // It holds nothing.
  }
}
