/** A stream whose first items were looked at: `all` yields those too. To be iterated once, or not at all. */
export interface Peeked<T> {
  readonly first: readonly T[];
  readonly all: AsyncGenerator<T, void, void>;
}

/** Takes up to `count` items from the front of a stream. */
export async function peeked<T>(source: AsyncIterable<T>, count: number): Promise<Peeked<T>> {
  const iterator = source[Symbol.asyncIterator]();
  const first: T[] = [];
  while (first.length < count) {
    const next = await iterator.next();
    if (next.done === true) break;
    first.push(next.value);
  }
  async function* all(): AsyncGenerator<T, void, void> {
    try {
      yield* first;
      for (;;) {
        const next = await iterator.next();
        if (next.done === true) return;
        yield next.value;
      }
    } finally {
      await iterator.return?.();
    }
  }
  return { first, all: all() };
}
