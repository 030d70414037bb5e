/**
 * Maps with up to `limit` promises under way and yields results in the order of the source.
 *
 * It pulls no further than `limit` ahead of its consumer. When one fails nothing more is pulled, those under way are
 * waited for, and the results before the failed one are still yielded.
 */
export async function* mapOrdered<T, R>(
  source: AsyncIterable<T>,
  limit: number,
  map: (item: T) => Promise<R>,
): AsyncGenerator<R, void, void> {
  const iterator = source[Symbol.asyncIterator]();
  const pending: Promise<R>[] = [];
  let open = true;
  const close = (): void => {
    open = false;
  };
  try {
    for (;;) {
      while (open && pending.length < limit) {
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
    await Promise.allSettled(pending);
    await iterator.return?.();
  }
}
