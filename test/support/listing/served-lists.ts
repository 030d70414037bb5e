import { AssetService } from '../../../packages/practice-service/src/asset-service.ts';
import { CreditBalance, MemorySpent } from '../../../packages/practice-service/src/credit-balance.ts';
import { checkFaults } from '../../../packages/practice-service/src/faults/load-faults.ts';
import type { AssetStore } from '../../../packages/practice-service/src/store/asset-store.ts';
import { recordOf, type StoredRecord } from '../../../packages/practice-service/src/store/stored-record.ts';
import type { ListingDialect } from '../../../src/core/client/dialects.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { idOfBytes } from '../../../src/lib/ids/asset-id.ts';
import type { ServiceFaults } from '../../../src/practice-service.ts';
import { checkPage } from '../../../src/wings/listing/check-page.ts';
import { pageBody, parsePage, parseTotal, totalBody } from '../../../src/wings/listing/index.ts';
import { bytesOfKey } from '../../../src/wings/listing/walk/keys.ts';
import type { AnsweredPage, PageRequest } from '../../../src/wings/listing/walk/walk.ts';
import { servedCollection } from './collection-service.ts';
import type { WalkedLists } from './walked.ts';

const lowBits = 192n;
/** Odd, and without a pattern: faults draw by all bytes of a key. */
const spread = 0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c834_1082_276b_f3a2_7251n;

/** A whole key that begins with these 64 bits. */
function wholeKey(high: bigint): bigint {
  return (high << lowBits) | ((high * spread) & ((1n << lowBits) - 1n));
}

/** Records of a collection that are made when they are asked for: a million of them take the memory of their ids. */
export class CollectionStore implements AssetStore {
  readonly ids: readonly string[];

  /** @param keys the first 64 bits of each id */
  constructor(keys: Iterable<bigint>) {
    this.ids = Array.from(keys, (key) => idOfBytes(bytesOfKey(wholeKey(key))));
  }

  get count(): number {
    return this.ids.length;
  }

  get(id: string): StoredRecord {
    const grouping = [{ group_key: 'collection', group_value: servedCollection, verified: true }];
    return recordOf(Buffer.from(JSON.stringify({ id, grouping })), { grouping });
  }

  *records(): Generator<StoredRecord, void, void> {
    for (const id of this.ids) yield this.get(id);
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

/** The practice service without a socket: the client's own bytes go in, and what it answers is read as the client does. */
export class ServedLists implements WalkedLists {
  readonly #service: AssetService;
  readonly #dialect: ListingDialect;
  readonly #query = {
    filter: 'collection',
    address: servedCollection,
    onlyVerified: false,
    flags: { showFungible: false, showCollectionMetadata: false, showUnverifiedCollections: false },
  } as const;

  constructor(store: AssetStore, dialect: ListingDialect, faults: ServiceFaults) {
    this.#dialect = dialect;
    this.#service = new AssetService({
      store,
      balance: new CreditBalance({}, new MemorySpent(), systemClock),
      creditsPerCall: 0,
      maxIds: 1000,
      dialect,
      clock: systemClock,
      faults: checkFaults(faults),
    });
  }

  async page(request: PageRequest): Promise<AnsweredPage> {
    const idOf = (place: bigint | undefined) => (place === undefined ? undefined : idOfBytes(bytesOfKey(place)));
    const { after, before, withTotal } = request;
    const place = { after: idOf(after), before: idOf(before), withTotal };
    const { body } = pageBody(this.#dialect, this.#query, place);
    const parsed = parsePage(await this.#answer(body), this.#dialect.list.limit, (text) => text);
    if (parsed.kind === 'error') throw new Error(JSON.stringify(parsed.error));
    const checked = checkPage(parsed, request, true);
    if (typeof checked === 'string') throw new Error(checked);
    return checked;
  }

  async total(): Promise<number> {
    const parsed = parseTotal(await this.#answer(totalBody(this.#dialect, this.#query).body));
    if (parsed.kind === 'error') throw new Error(JSON.stringify(parsed.error));
    return parsed.total;
  }

  async #answer(body: Uint8Array<ArrayBuffer>): Promise<Buffer> {
    const { status, body: answered } = await this.#service.answer('', Buffer.from(body));
    if (status !== 200 || answered === undefined) throw new Error(`HTTP ${status}`);
    return answered;
  }
}
