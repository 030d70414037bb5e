import type { Clock } from '../../lib/clock.ts';
import type { CallOutline } from '../asset-client.ts';

/** A service that refuses the form of a call says so at once: others wait no longer for an answer that is slow. */
export const longestWaitMs = 300;

/**
 * Until the service has shown that it takes the form of the calls, one call is under way at a time, and pieces of a refused
 * call go before others. So a wrong flag, key or address costs few calls, whatever may be sent at once later.
 */
export class FirstAnswer {
  readonly #clock: Clock;
  readonly #stop: AbortSignal | undefined;
  readonly #waiting = new Set<{ readonly isPiece: boolean; readonly go: () => void }>();
  #isOpen = false;
  #isBusy = false;
  /** A call was refused: its pieces come next. */
  #awaitsPieces = false;
  readonly #onStop = (): void => {
    this.open();
  };
  /** Ended when the call under way is over. */
  #turn = new AbortController();

  constructor(clock: Clock, stop: AbortSignal | undefined) {
    this.#clock = clock;
    this.#stop = stop;
    stop?.addEventListener('abort', this.#onStop);
  }

  /** Resolves when the call may be sent. The caller then calls `leave` at its end. */
  async enter({ pieceOf }: CallOutline): Promise<void> {
    await this.#wait(pieceOf !== undefined);
  }

  /** Lets the other pieces go before another attempt. */
  async letOthers(): Promise<void> {
    this.leave(true);
    await this.#wait(false);
  }

  async #wait(isPiece: boolean): Promise<void> {
    if (this.#isOpen) return;
    await new Promise<void>((go) => {
      this.#waiting.add({ isPiece, go });
      this.#letNext();
    });
    this.#stop?.throwIfAborted();
  }

  /** @param hasPieces the call was refused, and its ids are requested in smaller calls */
  leave(hasPieces: boolean): void {
    if (this.#isOpen) return;
    this.#turn.abort();
    this.#isBusy = false;
    this.#awaitsPieces = hasPieces;
    this.#letNext();
  }

  /** Lets all calls go from now on. */
  open(): void {
    this.#isOpen = true;
    this.#stop?.removeEventListener('abort', this.#onStop);
    this.#turn.abort();
    for (const { go } of this.#waiting) go();
    this.#waiting.clear();
  }

  #letNext(): void {
    if (this.#isBusy) return;
    const all = [...this.#waiting];
    const next = all.find(({ isPiece }) => isPiece) ?? (this.#awaitsPieces ? undefined : all[0]);
    if (next === undefined) return;
    this.#waiting.delete(next);
    this.#isBusy = true;
    this.#awaitsPieces = false;
    next.go();
    this.#turn = new AbortController();
    this.#clock.sleep(longestWaitMs, this.#turn.signal).then(
      () => {
        this.open();
      },
      () => undefined, // The call was over first.
    );
  }
}
