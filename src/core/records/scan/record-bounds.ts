const firstCapacity = 64;

/** The numbers that are kept of a record. */
export const bound = {
  /** Where it begins and ends in the answer's bytes. */
  start: 0,
  end: 1,
  /** 1 when blanks may stand between its tokens. */
  mayHoldBlanks: 2,
  /** How many drifts there are up to its last. */
  driftEnd: 3,
  /** By the index of a child table: how many rows there are up to its last, and drifts of their elements. */
  childEnd: (table: number) => 4 + 2 * table,
  childDriftEnd: (table: number) => 5 + 2 * table,
} as const;

/** Where the records of an answer, their rows and their drifts end: in one array, as a record has many such numbers. */
export class RecordBounds {
  /** Records so far. */
  count = 0;
  readonly #stride: number;
  #numbers: Int32Array;

  constructor(childTables: number) {
    this.#stride = bound.childEnd(childTables);
    this.#numbers = new Int32Array(this.#stride * firstCapacity);
  }

  /** Adds a record, and gives its number. All its numbers are to be put: they are those of one that was there before. */
  add(): number {
    const record = this.count;
    this.count += 1;
    if (this.count * this.#stride > this.#numbers.length) this.#grow();
    return record;
  }

  put(record: number, which: number, value: number): void {
    this.#numbers[record * this.#stride + which] = value;
  }

  /** 0 for the record before the first: nothing ends there. */
  of(record: number, which: number): number {
    return record < 0 ? 0 : (this.#numbers[record * this.#stride + which] ?? 0);
  }

  #grow(): void {
    const larger = new Int32Array(this.#numbers.length * 2);
    larger.set(this.#numbers);
    this.#numbers = larger;
  }
}
