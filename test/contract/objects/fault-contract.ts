import { randomBytes } from 'node:crypto';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { systemClock } from '../../../src/lib/clock.ts';
import { ExportError } from '../../../src/lib/export-error.ts';
import type { ObjectStore } from '../../../src/places/objects/object-store.ts';
import { probeStore } from '../../../src/places/objects/open-objects.ts';
import type { RetryContext } from '../../../src/places/objects/store-retries.ts';
import type { FaultyServer, Refusal } from './faulty-server.ts';
import { allOf, bytesOf, fileOf, hashOf } from './object-contract.ts';
import { startStopwatch } from '../../support/stopwatch.ts';

export interface FaultyStore {
  readonly name: string;
  readonly server: FaultyServer;
  /** Opens a store with nothing in it. */
  readonly open: (how: StoreOptionsOfTests) => Promise<ObjectStore>;
  /** How the store refuses what may go well later. */
  readonly busy: readonly Refusal[];
  readonly expired: Refusal;
  readonly denied: Refusal;
}

export interface StoreOptionsOfTests extends Pick<RetryContext, 'clock' | 'random' | 'abort' | 'onTrouble'> {
  readonly bucket: string;
  /** How long a request waits for its answer, in milliseconds. */
  readonly limitMs: number;
}

const text = (value: string): { readonly bytes: Uint8Array } => ({ bytes: Buffer.from(value) });
const containing = (words: string): string => expect.stringContaining(words) as string;

/** What every store in a network does about faults. */
export function describeFaults({ name: storeName, server, open, busy, expired, denied }: FaultyStore): void {
  const { faults } = server;
  let nowMs = 0;
  const troubles: string[] = [];
  const clock = { now: () => nowMs, monotonic: () => nowMs, sleep: async (ms: number) => void (nowMs += ms) };
  const opened = (how: Partial<StoreOptionsOfTests> = {}) =>
    open({
      bucket: 'bucket',
      limitMs: 60_000,
      clock,
      random: () => 0.5,
      ...how,
      onTrouble: (message) => troubles.push(message),
    });

  describe(`faults of a store: ${storeName}`, () => {
    beforeEach(() => {
      troubles.length = 0;
      nowMs = 0;
      faults.length = 0;
      server.denied.clear();
    });

    it('is `taken` when the answer to a put was lost, with the hash that was put', async () => {
      const store = await opened();
      faults.push({ operation: 'PUT', fault: 'lost' });
      expect(await store.putNew('one', text('first'))).toBe('taken');
      expect(await store.look('one')).toMatchObject({ bytes: 5, sha256: hashOf(Buffer.from('first')) });
    });

    it('puts again after a busy store, a conflict, a server error and no answer', async () => {
      const store = await opened({ limitMs: 1000 });
      for (const fault of [...busy, 'hang' as const]) faults.push({ operation: 'PUT', fault });
      expect(await store.putNew('one', text('first'))).toBe('put');
      expect(faults).toEqual([]);
    });

    it('puts a file again after the same refusals, and its client prints nothing', async () => {
      const store = await opened();
      const bytes = randomBytes(3_000_000);
      const body = await fileOf(bytes);
      const warn = vi.spyOn(console, 'warn');
      onTestFinished(() => {
        warn.mockRestore();
      });
      for (const fault of busy) faults.push({ operation: 'PUT', fault });
      expect(await store.putNew('one', body)).toBe('put');
      expect(await store.putNew('one', body)).toBe('taken');
      expect(bytes.equals(await bytesOf(store.read('one')))).toBe(true);
      expect(faults).toEqual([]);
      expect(warn).not.toHaveBeenCalled();
    });

    it('repeats every operation while the store is busy', async () => {
      const store = await opened();
      await store.putNew('one', text('first'));
      const [fault = denied] = busy;
      for (const operation of ['LOOK', 'GET', 'LIST', 'DELETE'] as const) faults.push({ operation, fault });
      expect(await store.look('one')).toMatchObject({ bytes: 5 });
      expect(String(await bytesOf(store.read('one')))).toBe('first');
      expect(await allOf(store.list(''))).toEqual([{ name: 'one', bytes: 5 }]);
      await store.remove(['one']);
      expect(await store.look('one')).toBeUndefined();
      expect(faults).toEqual([]);
    });

    it('reads on where an answer was cut or stalls, and where none came', async () => {
      const store = await opened({ limitMs: 1000 });
      const bytes = randomBytes(500_000);
      await store.putNew('one', { bytes });
      for (const fault of ['cut', 'hang', 'stall', 'cut', ...busy] as const) faults.push({ operation: 'GET', fault });
      expect(bytes.equals(await bytesOf(store.read('one')))).toBe(true);
      expect(bytes.subarray(7, 400_000).equals(await bytesOf(store.read('one', { from: 7, length: 399_993 })))).toBe(
        true,
      );
      expect(faults).toEqual([]);
    });

    it('does not mix an object with the one that replaced it while it was read', async () => {
      const store = await opened({ limitMs: 1000 });
      await store.putNew('one', { bytes: randomBytes(500_000) });
      faults.push({ operation: 'GET', fault: 'cut' });
      const read = async (): Promise<void> => {
        let isFirst = true;
        for await (const block of store.read('one')) {
          expect(block.length).toBeGreaterThan(0);
          if (isFirst) await store.put('one', { bytes: randomBytes(500_000) });
          isFirst = false;
        }
      };
      await expect(read()).rejects.toMatchObject({ exit: 'damaged', message: containing('changed') });
    });

    it('ends with `unavailable` after 15 minutes, by the clock that is given', async () => {
      const store = await opened();
      const beganMs = nowMs;
      const [fault = denied] = busy;
      for (let count = 0; count < 200; count += 1) faults.push({ operation: 'PUT', fault });
      await expect(store.putNew('one', text('first'))).rejects.toMatchObject({ exit: 'unavailable' });
      expect(nowMs - beganMs).toBeGreaterThan(14 * 60_000);
      expect(nowMs - beganMs).toBeLessThanOrEqual(15 * 60_000);
      expect(troubles).toEqual([containing('does not recover')]);
    });

    it('ends with `cannotWrite` for expired credentials, an absent bucket, and what is denied', async () => {
      const store = await opened();
      faults.push({ operation: 'PUT', fault: expired });
      const put = store.putNew('one', text('x'));
      await expect(put).rejects.toMatchObject({ exit: 'cannotWrite', message: containing('credentials') });
      const elsewhere = (await opened({ bucket: 'other' })).putNew('one', text('x'));
      await expect(elsewhere).rejects.toMatchObject({ exit: 'cannotWrite', message: containing('does not exist') });
      for (const operation of ['PUT', 'LOOK', 'GET', 'LIST', 'DELETE'] as const) server.denied.set(operation, denied);
      const works = [
        () => store.putNew('two', text('x')),
        () => store.look('two'),
        () => bytesOf(store.read('two')),
        () => allOf(store.list('')),
        () => store.remove(['two']),
      ];
      for (const work of works)
        await expect(work()).rejects.toMatchObject({ exit: 'cannotWrite', message: containing('denied') });
    });

    it.each([501, 505])('ends with `usage` where it answers %i, at once', async (status) => {
      const store = await opened();
      const answer = { status, code: 'NotImplemented' };
      server.denied.set('PUT', answer).set('LOOK', answer);
      const before = server.requests.get('PUT') ?? 0;
      const message = containing('does not support conditional writes');
      await expect(store.putNew('one', text('x'))).rejects.toMatchObject({ exit: 'usage', message });
      await expect(store.look('one')).rejects.toMatchObject({ exit: 'usage', message: containing('does not support') });
      expect(server.requests.get('PUT')).toBe(before + 1);
      expect(nowMs).toBe(0);
    });

    it.each([304, 409])('takes %i to a create for a name that exists, where it does', async (status) => {
      const store = await opened();
      await store.putNew('one', text('first'));
      for (const _ of ['one', 'two']) faults.push({ operation: 'PUT', fault: { status, code: 'Conflict' } });
      expect(await store.putNew('one', text('second'))).toBe('taken');
      await expect(store.putNew('two', text('second'))).rejects.toMatchObject({ exit: 'cannotWrite' });
    });

    it('passes the probe where nothing may be removed', async () => {
      server.denied.set('DELETE', denied);
      expect(await probeStore(await opened(), storeName)).toMatchObject({ canReplace: true, canRemove: false });
    });

    describe('when the time of grace of a process is over', () => {
      const reason = new ExportError('terminated', 'stopped by SIGTERM');
      const ending = async () => {
        const grace = new AbortController();
        const store = await opened({ clock: systemClock, abort: grace.signal });
        onTestFinished(() => void (server.draw = () => undefined));
        return {
          store,
          over: () => {
            grace.abort(reason);
          },
        };
      };

      it.each([
        { words: 'does not answer', fault: 'hang' as const },
        { words: 'is busy', fault: busy[0] ?? denied },
      ])('gives up a store that $words, whatever waits for it', async ({ fault }) => {
        const { store, over } = await ending();
        await store.putNew('one', { bytes: randomBytes(500_000) });
        faults.push({ operation: 'GET', fault: 'stall' });
        const reading = bytesOf(store.read('one'));
        await systemClock.sleep(200);
        server.draw = () => fault;
        const works = [
          reading,
          store.put('two', text('x')),
          store.put('three', await fileOf(randomBytes(3_000_000))),
          store.look('one'),
          bytesOf(store.read('one', { from: 1, length: 2 })),
          allOf(store.list('')),
          allOf(store.names('')),
          store.remove(['one']),
        ].map((work) => work.catch((error: unknown) => error));
        await systemClock.sleep(300);
        const ms = startStopwatch();
        over();
        expect(await Promise.all(works)).toEqual(works.map(() => reason));
        expect(ms()).toBeLessThan(1600);
        const againMs = startStopwatch();
        await expect(store.put('two', text('x'))).rejects.toBe(reason);
        expect(againMs()).toBeLessThan(100);
      });

      it('waits for one that answers, and repeats nothing', async () => {
        const { store, over } = await ending();
        faults.push({ operation: 'PUT', fault: 'slow' });
        const putting = store.putNew('one', text('first'));
        await systemClock.sleep(200);
        over();
        expect(await putting).toBe('put');
        expect(await store.putNew('two', text('second'))).toBe('put');
        expect(String(await bytesOf(store.read('two')))).toBe('second');
        const [fault = denied] = busy;
        faults.push({ operation: 'PUT', fault });
        await expect(store.put('two', text('third'))).rejects.toBe(reason);
        expect(String(await bytesOf(store.read('two')))).toBe('second');
      });
    });
  });
}
