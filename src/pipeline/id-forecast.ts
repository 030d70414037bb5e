/** So many ids of an input tell what the rest of it is like. */
const leastIds = 50_000;

interface Sized {
  /** As it lies on disk. */
  readonly bytes: number;
}

/**
 * Guesses how many different ids there will be: the input that is being read goes on as it began. Of the inputs behind it
 * nothing is assumed, as they may be of another kind, or hold the same ids again.
 */
export class IdForecast {
  readonly #inputs: readonly Sized[];
  readonly #bytesRead: () => number;
  #source = -1;
  #bytesBefore = 0;
  #idsBefore = 0;

  /**
   * @param inputs in the order of reading
   * @param bytesRead how many of all these have been read
   */
  constructor(inputs: readonly Sized[], bytesRead: () => number) {
    this.#inputs = inputs;
    this.#bytesRead = bytesRead;
  }

  /**
   * @param source index of the input that is being read
   * @param known different ids so far
   */
  total(source: number, known: number): number {
    if (source !== this.#source) {
      this.#source = source;
      this.#bytesBefore = this.#inputs.slice(0, source).reduce((sum, each) => sum + each.bytes, 0);
      this.#idsBefore = known;
    }
    const bytes = this.#inputs[source]?.bytes ?? 0;
    const read = this.#bytesRead() - this.#bytesBefore;
    const found = known - this.#idsBefore;
    return found < leastIds || read <= 0 || read >= bytes ? known : known + (found / read) * (bytes - read);
  }
}
