import { setImmediate as pause } from 'node:timers/promises';
import { idOfBytes, keyBytes, putIdBytes } from '../../../../src/lib/ids/asset-id.ts';
import type { StoredRecord } from '../store/stored-record.ts';
import type { MemberFilter } from './list-query.ts';

/** An entry of a list: the row of its asset, and two marks. */
const rowBits = 2;
/** The asset has a supply: burnt ones have none, and are never listed. */
export const hasSupply = 1;
/** Its collection is verified, or its creator has signed. */
export const isVerified = 2;

/** The assets of a list: `row << 2 | marks`, in the order of their keys. */
export type MemberRows = Uint32Array;

export function rowOf(entry: number): number {
  return entry >>> rowBits;
}

interface FilterLists {
  readonly numbers: ReadonlyMap<string, number>;
  /** Where the entries of each address begin; one more at the end. */
  readonly starts: Uint32Array;
  readonly entries: Uint32Array;
}

const none: MemberRows = new Uint32Array();

/** Which assets belong to which address. Memory: 32 bytes an asset, 4 bytes an entry, and about 150 bytes for each address. */
export class MemberIndex {
  /** The keys of all assets, rising. */
  readonly keys: Uint8Array;
  readonly #lists: ReadonlyMap<MemberFilter, FilterLists>;

  private constructor(keys: Uint8Array, lists: ReadonlyMap<MemberFilter, FilterLists>) {
    this.keys = keys;
    this.#lists = lists;
  }

  /** Reads all records once; others are answered meanwhile. */
  static async build(records: Iterable<StoredRecord>): Promise<MemberIndex> {
    const gathered = new GatheredMembers();
    let read = 0;
    for (const { text } of records) {
      gathered.add(JSON.parse(text.toString('utf8')) as object);
      read += 1;
      if (read % 1000 === 0) await pause();
    }
    const order = gathered.order();
    return new MemberIndex(gathered.sortedKeys(order), gathered.lists(order));
  }

  members(filter: MemberFilter, address: string | undefined): MemberRows {
    const { numbers, starts, entries } = this.#lists.get(filter) ?? {};
    const number = address === undefined ? undefined : numbers?.get(address);
    if (number === undefined || starts === undefined) return none;
    return entries?.subarray(starts[number], starts[number + 1]) ?? none;
  }

  idAt(row: number): string {
    return idOfBytes(this.keys, row * keyBytes);
  }
}

/** Numbers below 2^32, one after the other, outside the heap. */
class Words {
  #words = new Uint32Array(1024);
  length = 0;

  push(word: number): void {
    if (this.length === this.#words.length) {
      const grown = new Uint32Array(2 * this.length);
      grown.set(this.#words);
      this.#words = grown;
    }
    this.#words[this.length] = word;
    this.length += 1;
  }

  at(index: number): number {
    return this.#words[index] ?? 0;
  }

  set(index: number, word: number): void {
    this.#words[index] = word;
  }
}

class GatheredEntries {
  readonly numbers = new Map<string, number>();
  /** The number of the address, and the asset with its marks, of each entry. */
  readonly #of = new Words();
  readonly #members = new Words();

  add(address: unknown, asset: number, marks: number): void {
    if (typeof address !== 'string' || address === '') return;
    let number = this.numbers.get(address);
    if (number === undefined) {
      number = this.numbers.size;
      this.numbers.set(address, number);
    }
    // The same address twice in a record is one member.
    for (let last = this.#of.length - 1; last >= 0 && this.#members.at(last) >>> rowBits === asset; last -= 1) {
      if (this.#of.at(last) !== number) continue;
      this.#members.set(last, this.#members.at(last) | marks);
      return;
    }
    this.#of.push(number);
    this.#members.push((asset << rowBits) | marks);
  }

  /** @param rows the row of each asset */
  lists(rows: Uint32Array): FilterLists {
    const starts = new Uint32Array(this.numbers.size + 1);
    for (let index = 0; index < this.#of.length; index += 1) {
      const number = this.#of.at(index);
      starts[number + 1] = (starts[number + 1] ?? 0) + 1;
    }
    for (let number = 1; number < starts.length; number += 1)
      starts[number] = (starts[number] ?? 0) + (starts[number - 1] ?? 0);
    const next = starts.slice();
    const entries = new Uint32Array(this.#members.length);
    for (let index = 0; index < entries.length; index += 1) {
      const member = this.#members.at(index);
      const number = this.#of.at(index);
      const at = next[number] ?? 0;
      entries[at] = ((rows[member >>> rowBits] ?? 0) << rowBits) | (member & (hasSupply | isVerified));
      next[number] = at + 1;
    }
    for (let number = 0; number + 1 < starts.length; number += 1)
      entries.subarray(starts[number], starts[number + 1]).sort();
    return { numbers: this.numbers, starts, entries };
  }
}

class GatheredMembers {
  #keys = new Uint8Array(1024 * keyBytes);
  #assets = 0;
  readonly #entries: Readonly<Record<MemberFilter, GatheredEntries>> = {
    collection: new GatheredEntries(),
    owner: new GatheredEntries(),
    creator: new GatheredEntries(),
    authority: new GatheredEntries(),
    tree: new GatheredEntries(),
  };

  add(record: object): void {
    const asset = this.#assets;
    const members = membersOf(record);
    this.#assets += 1;
    if (this.#assets * keyBytes > this.#keys.length) {
      const grown = new Uint8Array(2 * this.#keys.length);
      grown.set(this.#keys);
      this.#keys = grown;
    }
    putIdBytes(String(members['id']), this.#keys, asset * keyBytes);
    const supply = suppliedMark(members);
    const { collection, owner, creator, authority, tree } = this.#entries;
    for (const { group_key, group_value, verified } of listOf(members['grouping']))
      if (group_key === 'collection')
        collection.add(group_value, asset, supply | (verified === false ? 0 : isVerified));
    for (const { address, verified } of listOf(members['creators']))
      creator.add(address, asset, supply | (verified === true ? isVerified : 0));
    for (const { address } of listOf(members['authorities'])) authority.add(address, asset, supply);
    owner.add(membersOf(members['ownership'])['owner'], asset, supply);
    tree.add(membersOf(members['compression'])['tree'], asset, supply);
  }

  /** The assets in the order of their keys. */
  order(): Uint32Array {
    const view = new DataView(this.#keys.buffer);
    // Six bytes are exact in a double, and decide nearly always.
    const heads = Float64Array.from({ length: this.#assets }, (_, asset) => {
      return view.getUint32(asset * keyBytes) * 0x1_0000 + view.getUint16(asset * keyBytes + 4);
    });
    const key = (asset: number): Uint8Array => this.#keys.subarray(asset * keyBytes, (asset + 1) * keyBytes);
    return Uint32Array.from({ length: this.#assets }, (_, asset) => asset).sort((left, right) => {
      return (heads[left] ?? 0) - (heads[right] ?? 0) || Buffer.compare(key(left), key(right));
    });
  }

  sortedKeys(order: Uint32Array): Uint8Array {
    const sorted = new Uint8Array(order.length * keyBytes);
    for (const [row, asset] of order.entries())
      sorted.set(this.#keys.subarray(asset * keyBytes, (asset + 1) * keyBytes), row * keyBytes);
    return sorted;
  }

  lists(order: Uint32Array): ReadonlyMap<MemberFilter, FilterLists> {
    const rows = new Uint32Array(order.length);
    for (const [row, asset] of order.entries()) rows[asset] = row;
    const filters = Object.entries(this.#entries) as [MemberFilter, GatheredEntries][];
    return new Map(filters.map(([filter, entries]) => [filter, entries.lists(rows)]));
  }
}

/** What was burnt is gone, and so is a token of which nothing is left. */
function suppliedMark(record: Members): number {
  const isGone = record['burnt'] === true || membersOf(record['token_info'])['supply'] === 0;
  return isGone ? 0 : hasSupply;
}

type Members = Readonly<Record<string, unknown>>;

function membersOf(value: unknown): Members {
  return typeof value === 'object' && value !== null ? (value as Members) : {};
}

function listOf(value: unknown): Members[] {
  return Array.isArray(value) ? value.map(membersOf) : [];
}
