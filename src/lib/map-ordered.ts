export interface OrderedOptions<T, R> {
  readonly map: (item: T) => Promise<R>;
  /** Most promises under way, and how far it pulls ahead of its consumer. */
  readonly limit: number;
  /** Called when the consumer leaves or the source fails, before what is under way is waited for. */
  readonly onLeft?: () => void;
}

/**
 * Maps several items at once and yields the results in the order of the source.
 *
 * When one fails nothing more is pulled, those under way are waited for, and the results before the failed one are still
 * yielded.
 */
export async function* mapOrdered<T, R>(
  source: AsyncIterable<T>,
  { map, limit, onLeft }: OrderedOptions<T, R>,
): AsyncGenerator<R, void, void> {
  const iterator = source[Symbol.asyncIterator]();
  const pending: Promise<R>[] = [];
  const state = { open: true };
  const close = (): void => {
    state.open = false;
  };
  try {
    for (;;) {
      while (state.open && pending.length < limit) {
        const next = await iterator.next();
        if (next.done === true) close();
        else {
          const result = map(next.value);
          result.catch(close);
          pending.push(result);
        }
      }
      const head = pending.shift();
      if (head === undefined) return;
      yield await head;
    }
  } finally {
    if (pending.length > 0) onLeft?.();
    await Promise.allSettled(pending);
    await iterator.return?.();
  }
}
