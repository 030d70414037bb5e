import type { Direction } from '../../../src/wings/listing/walk/keys.ts';
import type { AnsweredPage, PageRequest } from '../../../src/wings/listing/walk/walk.ts';

const lowBits = 192n;

/** A generator of numbers from 0 up to 1, the same for the same seed (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b_79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000;
  };
}

export interface IndexOptions {
  readonly rows: number;
  readonly seed: number;
  /** The part of the rows that is dropped after the limit. */
  readonly dropped?: number;
  /** Where in the key space rows are dropped, from 0 up to 1: everywhere unless given. */
  readonly window?: readonly [number, number];
  /** The part of the key space that holds so large a part of the rows. */
  readonly crowded?: { readonly space: number; readonly share: number };
  readonly limit?: number;
  readonly direction?: Direction;
}

/** The index of a listing, by the first 64 bits of its keys: it takes rows up to the limit, then drops some of them. */
export class SimulatedIndex {
  readonly limit: number;
  readonly direction: Direction;
  readonly #rows: BigUint64Array;
  readonly #isDropped: Uint8Array;
  readonly members: ReadonlySet<bigint>;

  constructor({
    rows,
    seed,
    dropped = 0,
    window: [from, to] = [0, 1],
    crowded,
    limit = 1000,
    direction = 'rising',
  }: IndexOptions) {
    const random = seeded(seed);
    this.limit = limit;
    this.direction = direction;
    this.#rows = new BigUint64Array(rows);
    const high = new Uint32Array(this.#rows.buffer);
    for (let row = 0; row < rows; row += 1) {
      const isCrowded = crowded !== undefined && random() < crowded.share;
      const place = isCrowded ? 0.4 + random() * crowded.space : random();
      high[2 * row] = random() * 0x1_0000_0000;
      high[2 * row + 1] = place * 0x1_0000_0000;
    }
    this.#rows.sort();
    this.#isDropped = new Uint8Array(rows);
    const members = new Set<bigint>();
    for (const [row, key] of this.#rows.entries()) {
      const place = Number(key >> 32n) / 0x1_0000_0000;
      const isDropped = place >= from && place < to && random() < dropped;
      this.#isDropped[row] = Number(isDropped);
      if (!isDropped) members.add(key);
    }
    this.members = members;
  }

  get rowCount(): number {
    return this.#rows.length;
  }

  /** Members among the rows of a page that begins at a row, whatever their keys are. */
  rowsFrom(from: number): number {
    return this.#isDropped.subarray(from, from + this.limit).reduce((members, dropped) => members + 1 - dropped, 0);
  }

  /** The rows that a page takes, and of them the members. */
  page({ after, before }: Pick<PageRequest, 'after' | 'before'>): AnsweredPage {
    const rows = this.#rows;
    const from = after === undefined ? 0 : this.#behind(after >> lowBits);
    const to = before === undefined ? rows.length : this.#behind((before - 1n) >> lowBits);
    const [start, end] =
      this.direction === 'rising' ? [from, Math.min(to, from + this.limit)] : [Math.max(from, to - this.limit), to];
    const keys = new Uint8Array(32 * Math.max(0, end - start));
    const view = new DataView(keys.buffer);
    let at = 0;
    for (let row = start; row < end; row += 1) {
      if (this.#isDropped[row] === 1) continue;
      view.setBigUint64(at, rows[row] ?? 0n);
      at += 32;
    }
    return { keys: keys.subarray(0, at), direction: at > 32 ? this.direction : undefined, inErrors: 0 };
  }

  /** The place of the first row behind a key. */
  #behind(key: bigint): number {
    let low = 0;
    let high = this.#rows.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#rows[middle] ?? 0n) <= key) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
