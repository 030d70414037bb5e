/** The first items of a stream. `all` yields the whole stream, first items included, and may be iterated once. */
export interface StreamAhead<T> {
  readonly first: readonly T[];
  readonly all: AsyncGenerator<T, void, void>;
}

/** Reads up to `count` items ahead. */
export async function peek<T>(source: AsyncIterable<T>, count: number): Promise<StreamAhead<T>> {
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
