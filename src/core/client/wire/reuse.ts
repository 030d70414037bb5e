/** So many lost requests, of the last ones that could reuse a connection, end the reuse. */
const mostLost = 3;
const lastRequests = 32;
/** So many requests use fresh connections before reuse is tried again: twice as many each time. */
const firstFresh = 256;
const mostFresh = 4096;

/**
 * Whether the other side keeps connections between requests: pure, without a clock and without a promise. A balancer may forget
 * connections that were used; the requests that it loses say nothing about the service or the ids.
 */
export class Reuse {
  /** Of the last requests that could reuse a connection, which were lost. */
  #last: boolean[] = [];
  #freshLeft = 0;
  #nextFresh = firstFresh;

  /** Whether the next request has to use a fresh connection. Counts it. */
  takesFresh(): boolean {
    if (this.#freshLeft === 0) return false;
    this.#freshLeft -= 1;
    return true;
  }

  /** A request that could reuse a connection ended. @returns whether further requests use fresh connections because of it */
  ended(isLost: boolean): boolean {
    // It left before the reuse ended.
    if (this.#freshLeft > 0) return false;
    this.#last = [...this.#last, isLost].slice(-lastRequests);
    if (this.#last.filter(Boolean).length < mostLost) return false;
    this.#last = [];
    this.#freshLeft = this.#nextFresh;
    this.#nextFresh = Math.min(mostFresh, 2 * this.#nextFresh);
    return true;
  }
}
