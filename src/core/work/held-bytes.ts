/** Memory that an export holds for its calls; reported on each change. */
export interface Holding {
  /** Answers and entries that are not written yet, and answers in flight, at the average size so far. */
  readonly bytes: number;
  /** True while no call begins for it. */
  readonly isFull: boolean;
}

export interface HeldBytesOptions {
  readonly mostBytes: number;
  /** Batches that may be under way before the size of any answer is known. */
  readonly firstBatches: number;
  readonly onChange: (holding: Holding) => void;
}

/** Counts the bytes of entries and of answers up to their rows, so that memory is bounded by them. */
export class HeldBytes {
  readonly #options: HeldBytesOptions;
  #underWay = 0;
  #waitingBytes = 0;
  #batches = 0;
  #batchBytes = 0;

  constructor(options: HeldBytesOptions) {
    this.#options = options;
  }

  /** Whether one batch more may begin. */
  hasRoom(): boolean {
    const { mostBytes, firstBatches } = this.#options;
    if (this.#batches === 0) return this.#underWay < firstBatches && this.#waitingBytes <= mostBytes;
    return this.#bytes() + this.#average() <= mostBytes;
  }

  /** A batch waits with its entries, few or, where most are repeated, very many. */
  waits(entryBytes: number): void {
    this.#waitingBytes += entryBytes;
    this.#tell();
  }

  /** The same for a batch that is requested. */
  begin(entryBytes: number): void {
    this.#underWay += 1;
    this.waits(entryBytes);
  }

  /** A batch has all its answers, or fails. */
  arrived(bytes: number): void {
    this.#underWay -= 1;
    this.#batches += 1;
    this.#batchBytes += bytes;
    this.#waitingBytes += bytes;
    this.#tell();
  }

  /** The rows of a batch are written: its entries and answers are gone. */
  written(bytes: number): void {
    this.#waitingBytes -= bytes;
    this.#tell();
  }

  #average(): number {
    return this.#batches === 0 ? 0 : this.#batchBytes / this.#batches;
  }

  #bytes(): number {
    return this.#waitingBytes + this.#underWay * this.#average();
  }

  #tell(): void {
    this.#options.onChange({ bytes: Math.round(this.#bytes()), isFull: !this.hasRoom() });
  }
}
