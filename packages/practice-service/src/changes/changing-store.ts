import { type Clock, dayMs } from '../../../../src/lib/clock.ts';
import { parseJson, stringifyJson, isJsonObject, type JsonObject } from '../../../../src/lib/json/json.ts';
import { randomOf } from '../generated/seeded-random.ts';
import type { AssetStore } from '../store/asset-store.ts';
import { recordOf, type StoredRecord } from '../store/stored-record.ts';
import type { Changes } from './change-schema.ts';
import { changeRecord } from './change-record.ts';

/** Makes what tells of which class a record is: the index of the first one whose words all fit, else the number of classes. */
export type Classify = (classes: readonly (readonly string[])[]) => (record: JsonObject) => number;

/** The records of another store as they are today. What a record is on a day depends on it, its id, the seed and the day alone. */
export class ChangingStore implements AssetStore {
  readonly #store: AssetStore;
  readonly #changes: Changes;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #classOf: (record: JsonObject) => number;

  constructor(
    store: AssetStore,
    changes: Changes,
    { clock, classify }: { readonly clock: Pick<Clock, 'now'>; readonly classify: Classify },
  ) {
    this.#store = store;
    this.#changes = changes;
    this.#clock = clock;
    this.#classOf = classify(changes.classes.map(({ when }) => when));
  }

  get count(): number {
    return this.#store.count;
  }

  get(id: string): StoredRecord | undefined {
    const stored = this.#store.get(id);
    const days = this.version;
    if (stored === undefined || days <= 0) return stored;
    const record = parseJson(stored.text.toString('utf8'));
    if (!isJsonObject(record)) return stored;
    const { isGone, isChanged } = this.#live(id, record, days);
    if (isGone) return undefined;
    return isChanged ? recordOf(Buffer.from(stringifyJson(record)), record) : stored;
  }

  /** The days since the records were as loaded. */
  get version(): number {
    return Math.max(0, Math.floor((this.#clock.now() - Date.parse(this.#changes.from)) / dayMs));
  }

  *records(): Generator<StoredRecord> {
    for (const { text } of this.#store.records?.() ?? []) {
      const { id } = JSON.parse(text.toString('utf8')) as { readonly id: string };
      const today = this.get(id);
      if (today !== undefined) yield today;
    }
  }

  close(): Promise<void> {
    return this.#store.close();
  }

  /** Lets so many days pass for a record. A burnt one changes no more. */
  #live(id: string, record: JsonObject, days: number): { readonly isGone: boolean; readonly isChanged: boolean } {
    const { seed, gone, back } = this.#changes;
    const percent = this.#shareOf(record) * 100;
    const random = randomOf(`changes ${seed} ${id}`);
    let isGone = false;
    let isChanged = false;
    for (let day = 1; day <= days; day += 1) {
      const changesToday = random.chance(percent);
      if (random.chance((isGone ? back : gone) * 100)) isGone = !isGone;
      if (!changesToday || record['burnt'] === true) continue;
      changeRecord(record, randomOf(`change ${seed} ${id} ${day}`));
      isChanged = true;
    }
    return { isGone, isChanged };
  }

  #shareOf(record: JsonObject): number {
    const { classes, share } = this.#changes;
    if (classes.length === 0) return share;
    return classes[this.#classOf(record)]?.share ?? share;
  }
}
