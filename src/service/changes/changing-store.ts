import { type Clock, dayMs } from '../../lib/clock.ts';
import { type AssetClassifier, classifyAssets } from '../../core/records/classify-assets.ts';
import { assetsTable } from '../../core/records/columns.ts';
import { flattenAsset } from '../../core/records/flatten-asset.ts';
import { parseJson, stringifyJson } from '../../lib/json/json.ts';
import { isJsonObject, type JsonObject } from '../../lib/json/json-value.ts';
import { randomOf } from '../generated/seeded-random.ts';
import type { AssetStore } from '../store/asset-store.ts';
import { packRecord, recordText } from '../store/stored-record.ts';
import type { Changes } from './change-schema.ts';
import { changeRecord } from './change-record.ts';

/** The records of another store as they are today. What a record is on a day depends on it, its id, the seed and the day alone. */
export class ChangingStore implements AssetStore {
  readonly #store: AssetStore;
  readonly #changes: Changes;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #classes: AssetClassifier;
  readonly #columnsAt: readonly number[];

  constructor(store: AssetStore, changes: Changes, clock: Pick<Clock, 'now'>) {
    this.#store = store;
    this.#changes = changes;
    this.#clock = clock;
    this.#classes = classifyAssets(changes.classes.map(({ when }) => when));
    this.#columnsAt = this.#classes.columns.map((column) => assetsTable.columns.indexOf(column));
  }

  get count(): number {
    return this.#store.count;
  }

  get(id: string): Buffer | undefined {
    const packed = this.#store.get(id);
    const days = Math.floor((this.#clock.now() - Date.parse(this.#changes.from)) / dayMs);
    if (packed === undefined || days <= 0) return packed;
    const record = parseJson(recordText(packed).toString('utf8'));
    if (!isJsonObject(record)) return packed;
    const { isGone, isChanged } = this.#live(id, record, days);
    if (isGone) return undefined;
    return isChanged ? packRecord(Buffer.from(stringifyJson(record)), record) : packed;
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
    const { row } = flattenAsset(record);
    return classes[this.#classes.classOf(this.#columnsAt.map((at) => row[at] ?? null))]?.share ?? share;
  }
}
