/** The numbers that are kept of a record, in the order in which the kernel gives them (`close` in kernel/scan.ts). */
export const bound = {
  /** Where it begins and ends in the answer's bytes. */
  start: 0,
  end: 1,
  /** 1 when blanks may stand between its tokens. */
  mayHoldBlanks: 2,
  /** How many drifts there are up to its last. */
  driftEnd: 3,
  /** By the index of a child table: how many rows there are up to its last. */
  childEnd: (table: number) => 4 + table,
} as const;

/** Where the records of an answer, their rows and their drifts end: in one array, as a record has many such numbers. */
export class RecordBounds {
  /** Records so far. */
  count = 0;
  /** Numbers a record. */
  readonly stride: number;
  #numbers: Int32Array;

  constructor(childTables: number, records: number) {
    this.stride = bound.childEnd(childTables);
    this.#numbers = new Int32Array(this.stride * records);
  }

  /** Adds records with all their numbers. */
  add(numbers: Int32Array): void {
    const at = this.count * this.stride;
    if (at + numbers.length > this.#numbers.length) this.#grow(at + numbers.length);
    this.#numbers.set(numbers, at);
    this.count += numbers.length / this.stride;
  }

  /** 0 for the record before the first: nothing ends there. */
  of(record: number, which: number): number {
    return record < 0 ? 0 : (this.#numbers[record * this.stride + which] ?? 0);
  }

  #grow(needed: number): void {
    const larger = new Int32Array(Math.max(needed, this.#numbers.length * 2));
    larger.set(this.#numbers);
    this.#numbers = larger;
  }
}

const positions = Array.from({ length: 100 }, (_, position) => String(position).padEnd(2)).join('');

/** JSON types, in the order in which the kernel knows them (kernel/cells.ts). */
const types = ['string', 'number', 'boolean', 'array', 'object', 'null'];

/** What the texts begin with that no answer holds: positions up to 99, two bytes each, and the JSON types. */
export const childConstants: Uint8Array = Buffer.from(positions + types.join(''));

/** Where the types begin in them. */
export const typesOffset: number = positions.length;
