import type { Clock } from '../../lib/clock.ts';

/** Memory that an export holds for its calls; reported on each change. */
export interface Holding {
  /** Answers and entries that are not written yet, and answers that are read, at the average size so far. */
  readonly bytes: number;
  /** True while no call begins, or no answer is read, for it. */
  readonly isFull: boolean;
}

export interface HeldBytesOptions {
  readonly mostBytes: number;
  readonly clock: Clock;
  readonly onChange: (holding: Holding) => void;
}

/** Nothing was written for so long. */
const stallMs = 1000;

/** The answer to a call. */
export interface HeldAnswer {
  /** Of its batch in line. */
  readonly place: number;
  isRead: boolean;
  /** Resolves when it may be read. */
  turn?: Promise<void>;
  begin?: () => void;
}

/**
 * Counts the bytes of entries and of answers up to their rows, so that memory is bounded by them. A call that waits for its answer
 * holds none: the answer is read when there is room, that of the first batch in line always.
 */
export class HeldBytes {
  readonly #options: HeldBytesOptions;
  #bytes = 0;
  #reading = 0;
  #begun = 0;
  #written = 0;
  #answers = 0;
  #answerBytes = 0;
  /** Answers that have come and are not read, by their place in line. */
  readonly #waiting: HeldAnswer[] = [];
  #isLeft = false;
  #watch: AbortController | undefined;

  constructor(options: HeldBytesOptions) {
    this.#options = options;
  }

  /** Whether one batch more may begin. */
  hasRoom(): boolean {
    return this.#held() <= this.#options.mostBytes;
  }

  /** A batch begins with its entries, few or, where most are repeated, very many. @returns its place in line */
  begin(entryBytes: number): number {
    this.#bytes += entryBytes;
    this.#begun += 1;
    this.#tell();
    return this.#begun - 1;
  }

  /** The rows of the first batch in line are written: its entries and answers are gone. */
  written(bytes: number): void {
    this.#bytes -= bytes;
    this.#written += 1;
    this.#move();
  }

  /** The first bytes of an answer are here. Resolves when it may be read; undefined: at once. */
  room(answer: HeldAnswer): Promise<void> | undefined {
    if (!answer.isRead && answer.turn === undefined && this.#mayRead(answer)) this.#read(answer);
    if (answer.isRead) return undefined;
    if (answer.turn === undefined) {
      answer.turn = new Promise((resolve) => {
        answer.begin = resolve;
      });
      this.#waiting.push(answer);
      this.#waiting.sort((a, b) => a.place - b.place);
      this.#tell();
      this.#watchStalls();
    }
    return answer.turn;
  }

  /** An answer is here with so many bytes, or its call has failed. */
  over(answer: HeldAnswer, bytes: number | undefined): void {
    if (answer.isRead) this.#reading -= 1;
    const at = this.#waiting.indexOf(answer);
    if (at >= 0) this.#waiting.splice(at, 1);
    if (bytes !== undefined) {
      this.#answers += 1;
      this.#answerBytes += bytes;
      this.#bytes += bytes;
    }
    this.#move();
  }

  /** Nothing is written any more: what has come is read, to be kept. */
  leave(): void {
    this.#isLeft = true;
    this.#move();
  }

  #mayRead({ place }: HeldAnswer): boolean {
    return this.#isLeft || place <= this.#written || this.#held() + this.#average() <= this.#options.mostBytes;
  }

  #read(answer: HeldAnswer): void {
    this.#reading += 1;
    answer.isRead = true;
    answer.begin?.();
  }

  #move(): void {
    for (let [first] = this.#waiting; first !== undefined && this.#mayRead(first); [first] = this.#waiting) {
      this.#waiting.shift();
      this.#read(first);
    }
    if (this.#waiting.length === 0) this.#watch?.abort();
    this.#tell();
  }

  /** The first batch in line may lack a call of its own while others have all of them: what waits is read one by one. */
  #watchStalls(): void {
    if (this.#watch !== undefined && !this.#watch.signal.aborted) return;
    const { signal } = (this.#watch = new AbortController());
    const watch = async (): Promise<void> => {
      for (let seen = this.#written; ; seen = this.#written) {
        await this.#options.clock.sleep(stallMs, signal);
        const first = seen === this.#written ? this.#waiting.shift() : undefined;
        if (first !== undefined) this.#read(first);
      }
    };
    watch().catch(() => undefined); // Nothing waits any more.
  }

  #average(): number {
    return this.#answers === 0 ? 0 : this.#answerBytes / this.#answers;
  }

  #held(): number {
    return this.#bytes + this.#reading * this.#average();
  }

  #tell(): void {
    const isFull = this.#waiting.length > 0 || this.#held() > this.#options.mostBytes;
    this.#options.onChange({ bytes: Math.round(this.#held()), isFull });
  }
}
