/** Whole numbers from 0 up to a limit, a bit each. */
export class BitSet {
  readonly #bits: Uint8Array;

  constructor(limit: number) {
    this.#bits = new Uint8Array(Math.ceil(limit / 8));
  }

  has(number: number): boolean {
    return ((this.#bits[number >>> 3] ?? 0) & (1 << (number & 7))) !== 0;
  }

  add(number: number): void {
    this.#bits[number >>> 3] = (this.#bits[number >>> 3] ?? 0) | (1 << (number & 7));
  }

  delete(number: number): void {
    this.#bits[number >>> 3] = (this.#bits[number >>> 3] ?? 0) & ~(1 << (number & 7));
  }
}
