import { describe, expect, it } from 'vitest';
import { mapOrdered } from '../../src/lib/map-ordered.ts';

/** Numbers from 0, and how many of them were pulled. */
function counting(count: number, failAt = Number.POSITIVE_INFINITY) {
  const state = { pulled: 0, closed: false };
  async function* numbers(): AsyncGenerator<number, void, void> {
    try {
      for (let n = 0; n < count; n += 1) {
        if (n === failAt) throw new Error('the source fails');
        state.pulled += 1;
        yield n;
      }
    } finally {
      state.closed = true;
    }
  }
  return { state, numbers: numbers() };
}

/** Work that stays under way until the test ends it. */
function held() {
  const open = new Map<number, { end: () => void; fail: (error: Error) => void }>();
  const map = (n: number): Promise<string> =>
    new Promise((resolve, reject) => {
      open.set(n, {
        end: () => {
          open.delete(n);
          resolve(`#${n}`);
        },
        fail: (error) => {
          open.delete(n);
          reject(error);
        },
      });
    });
  return { open, map };
}

function deferred(): { promise: Promise<void>; resolve: () => void } {
  let resolve = (): void => undefined;
  const promise = new Promise<void>((end) => {
    resolve = end;
  });
  return { promise, resolve };
}

async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
}

describe('mapping in order', () => {
  it('yields in the order of the source, whatever ends first', async () => {
    const { open, map } = held();
    const results = mapOrdered(counting(3).numbers, { map, limit: 3 });
    const first = results.next();
    await settled();
    for (const n of [2, 1, 0]) open.get(n)?.end();
    expect((await first).value).toBe('#0');
    expect((await results.next()).value).toBe('#1');
    expect((await results.next()).value).toBe('#2');
    expect((await results.next()).done).toBe(true);
  });

  it('pulls no further than its limit ahead of its consumer', async () => {
    const { state, numbers } = counting(100);
    const { open, map } = held();
    const results = mapOrdered(numbers, { map, limit: 4 });
    for (let taken = 0; taken < 20; taken += 1) {
      const next = results.next();
      await settled();
      expect(state.pulled).toBe(taken + 4);
      open.get(taken)?.end();
      await next;
      await settled();
      expect(state.pulled).toBe(taken + 4);
    }
    for (const { end } of open.values()) end();
    await results.return();
    expect(state.closed).toBe(true);
  });

  it('still yields what came before a failure, pulls nothing after it, and waits for what is under way', async () => {
    const { state, numbers } = counting(100);
    const { open, map } = held();
    const results = mapOrdered(numbers, { map, limit: 3 });
    const first = results.next();
    await settled();
    open.get(1)?.fail(new Error('one fails'));
    open.get(0)?.end();
    expect((await first).value).toBe('#0');
    let ended = false;
    const second = results.next().catch((error: unknown) => {
      ended = true;
      return error;
    });
    await settled();
    expect(ended).toBe(false);
    open.get(2)?.end();
    expect(await second).toMatchObject({ message: 'one fails' });
    expect(state).toEqual({ pulled: 3, closed: true });
  });

  it.each(['the consumer leaves', 'the source fails'])('says so before it waits for the rest: %s', async (how) => {
    const { state, numbers } = counting(10, how === 'the source fails' ? 3 : undefined);
    const { open, map } = held();
    let left = 0;
    const onLeft = (): void => {
      left += 1;
      for (const { end } of open.values()) end();
    };
    const results = mapOrdered(numbers, { map, limit: 3, onLeft });
    const first = results.next();
    await settled();
    open.get(0)?.end();
    await first;
    if (how === 'the consumer leaves') await results.return();
    else await expect(results.next()).rejects.toThrow('the source fails');
    expect(left).toBe(1);
    expect(open.size).toBe(0);
    expect(state.closed).toBe(true);
  });

  it('says nothing of the kind when all was taken', async () => {
    let left = 0;
    const onLeft = (): void => {
      left += 1;
    };
    const taken: number[] = [];
    for await (const n of mapOrdered(counting(5).numbers, { map: (n) => Promise.resolve(n * n), limit: 2, onLeft })) {
      taken.push(n);
    }
    expect(taken).toEqual([0, 1, 4, 9, 16]);
    expect(left).toBe(0);
  });

  it('yields what is ready while the source has nothing yet', async () => {
    const more = deferred();
    async function* slow(): AsyncGenerator<number, void, void> {
      yield 0;
      await more.promise;
      yield 1;
    }
    const results = mapOrdered(slow(), { map: (n) => Promise.resolve(`#${n}`), limit: 3 });
    expect((await results.next()).value).toBe('#0');
    more.resolve();
    expect((await results.next()).value).toBe('#1');
    expect((await results.next()).done).toBe(true);
  });

  it('begins nothing that it pulled after its consumer left', async () => {
    const more = deferred();
    const begun: number[] = [];
    async function* slow(): AsyncGenerator<number, void, void> {
      yield 0;
      await more.promise;
      yield 1;
    }
    const results = mapOrdered(slow(), {
      map: (n) => {
        begun.push(n);
        return Promise.resolve(n);
      },
      limit: 3,
      onLeft: () => {
        more.resolve();
      },
    });
    await results.next();
    await results.return();
    expect(begun).toEqual([0]);
  });

  it('begins only the first in line while there is no room', async () => {
    const { state, numbers } = counting(3);
    const room = { is: false };
    const { open, map } = held();
    const results = mapOrdered(numbers, { map, limit: 3, hasRoom: () => room.is });
    const first = results.next();
    await settled();
    expect(state.pulled).toBe(1);
    open.get(0)?.end();
    await first;
    room.is = true;
    const second = results.next();
    await settled();
    expect(state.pulled).toBe(3);
    for (const { end } of open.values()) end();
    await second;
    await results.return();
  });
});
