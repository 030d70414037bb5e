export interface OrderedOptions<T, R> {
  readonly map: (item: T) => Promise<R>;
  /** Most promises under way, and how far it pulls ahead of its consumer. */
  readonly limit: number;
  /** Called before each pull except the one for the first in line, which always proceeds. */
  readonly hasRoom?: () => boolean;
  /** Called when the consumer leaves or the source fails, before what is under way is waited for. */
  readonly onLeft?: () => void;
}

/**
 * Maps several items at once and yields the results in the order of the source. A result that is ready does not wait for
 * a source that has nothing yet.
 *
 * When one fails nothing more is pulled, those under way are waited for, and the results before the failed one are still
 * yielded.
 */
export async function* mapOrdered<T, R>(
  source: AsyncIterable<T>,
  { map, limit, hasRoom = () => true, onLeft }: OrderedOptions<T, R>,
): AsyncGenerator<R, void, void> {
  const iterator = source[Symbol.asyncIterator]();
  const pending: Promise<R>[] = [];
  const state = { open: true };
  const close = (): void => {
    state.open = false;
  };
  const pull = async (): Promise<void> => {
    const next = await iterator.next();
    if (next.done === true) close();
    if (next.done === true || !state.open) return;
    const result = map(next.value);
    result.catch(close);
    pending.push(result);
  };
  const mayPull = (): boolean => state.open && pending.length < limit && (pending.length === 0 || hasRoom());
  let pulling: Promise<void> | undefined;
  try {
    for (;;) {
      if (pulling === undefined && mayPull()) pulling = watched(pull());
      const [head] = pending;
      if (pulling !== undefined && (head === undefined || !(await isFirst(head, pulling)))) {
        await pulling;
        pulling = undefined;
        continue;
      }
      if (head === undefined) return;
      void pending.shift();
      yield await head;
    }
  } finally {
    close();
    if (pending.length > 0 || pulling !== undefined) onLeft?.();
    await Promise.allSettled([...pending, pulling]);
    await iterator.return?.();
  }
}

/** Its failure is met when it is awaited, however late that is. */
function watched(work: Promise<void>): Promise<void> {
  work.catch(() => undefined);
  return work;
}

/** Whether the one settles while the other has not. */
function isFirst(one: Promise<unknown>, other: Promise<unknown>): Promise<boolean> {
  const no = (): boolean => false;
  const yes = (): boolean => true;
  return Promise.race([other.then(no, no), one.then(yes, yes)]);
}
