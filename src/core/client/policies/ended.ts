import type { ExportError } from '../../../lib/export-error.ts';

/**
 * What ended a client: nothing leaves after it. Whatever ends one says so here, and it is asked at the last moment before a
 * call leaves, so it reaches every call that waits.
 */
export class Ended {
  /** Aborted: no call begins. A call that is booked by then still leaves. */
  readonly stop: AbortSignal | undefined;
  #failure: ExportError | undefined;

  constructor(stop?: AbortSignal) {
    this.stop = stop;
  }

  /** The first error is kept. */
  end(error: ExportError): void {
    this.#failure ??= error;
  }

  /** The error that ended the client. After its last call there is no next one to throw it. */
  failure(): ExportError | undefined {
    return this.#failure;
  }

  /** @throws the reason of `stop`, or the error that ended the client */
  throwIfEnded(): void {
    this.stop?.throwIfAborted();
    if (this.#failure !== undefined) throw this.#failure;
  }
}
