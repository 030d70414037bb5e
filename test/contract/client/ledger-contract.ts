import { describe, expect, it } from 'vitest';
import type { CreditLedger, DiskLedger } from '../../../src/core/client/ledger/credit-ledger.ts';
import { keyHash, type LedgerOf } from '../../../src/core/client/ledger/ledger-file.ts';
import { SeededRandom } from '../../../packages/practice-service/src/generated/seeded-random.ts';
import { sampled } from '../../model/support/sample.ts';

const day = '2026-03-14';

/** What every ledger does. @param open opens one with nothing in it */
export function describeLedger(name: string, open: () => Promise<CreditLedger>): void {
  describe(`a credit ledger ${name}`, () => {
    it('books up to the limit and not beyond', async () => {
      const ledger = await open();
      expect(await ledger.booked(day)).toBe(0);
      expect(await ledger.reserve({ day, credits: 160, limit: 400 })).toBe(true);
      expect(await ledger.reserve({ day, credits: 160, limit: 400 })).toBe(true);
      expect(await ledger.reserve({ day, credits: 160, limit: 400 })).toBe(false);
      expect(await ledger.booked(day)).toBe(320);
      expect(await ledger.reserve({ day, credits: 80, limit: 400 })).toBe(true);
      expect(await ledger.reserve({ day, credits: 160 })).toBe(true);
      expect(await ledger.booked(day)).toBe(560);
      await ledger.close();
    });

    it('grants reservations made at once only as long as they fit together', async () => {
      const ledger = await open();
      const granted = await Promise.all(
        Array.from({ length: 50 }, () => ledger.reserve({ day, credits: 10, limit: 200 })),
      );
      expect(granted.filter(Boolean)).toHaveLength(20);
      expect(await ledger.booked(day)).toBe(200);
      await ledger.close();
    });

    it('keeps each day apart and gives credits back, never below none', async () => {
      const ledger = await open();
      await ledger.reserve({ day, credits: 160 });
      await ledger.reserve({ day: '2026-03-15', credits: 320 });
      await ledger.refund({ day, credits: 100 });
      expect(await ledger.booked(day)).toBe(60);
      await ledger.refund({ day, credits: 100 });
      expect(await ledger.booked(day)).toBe(0);
      expect(await ledger.booked('2026-03-15')).toBe(320);
      await ledger.close();
    });
  });
}

/** One ledger, which several programs may have open. */
export interface LedgersOfTests {
  readonly open: () => Promise<DiskLedger>;
}

/** What every ledger does that a person can correct. @param prepare makes one with nothing in it */
export function describeCorrections(name: string, prepare: () => Promise<LedgersOfTests>): void {
  describe(`a day of a ledger ${name} that is set to what the provider says`, () => {
    it('is that, and what is booked before and after is told', async () => {
      const ledger = await (await prepare()).open();
      await ledger.reserve({ day, credits: 480 });
      await ledger.settle({ day, credits: 480 });
      expect(await ledger.set({ day, credits: 320 })).toMatchObject({ before: 480, after: 320, inFlight: 0 });
      expect(await ledger.booked(day)).toBe(320);
      expect(await ledger.booked('2026-03-15')).toBe(0);
      expect(await ledger.reserve({ day, credits: 160, limit: 480 })).toBe(true);
      expect(await ledger.reserve({ day, credits: 160, limit: 480 })).toBe(false);
      await ledger.close();
    });

    it('has the calls that are booked, and their price as long as all have one', async () => {
      const { open } = await prepare();
      const [running, other] = [await open(), await open()];
      for (let call = 0; call < 20; call += 1) await running.reserve({ day, credits: 160 });
      for (let call = 0; call < 3; call += 1) await running.refund({ day, credits: 160 });
      await running.settle({ day, credits: 17 * 160 });
      expect(await other.set({ day, credits: 3600 })).toMatchObject({
        before: 2720,
        calls: { number: 17, price: 160 },
      });
      await running.reserve({ day, credits: 160 });
      expect(await other.set({ day, credits: 3600 })).toMatchObject({ calls: { number: 18, price: 160 } });
      await running.reserve({ day, credits: 180 });
      expect((await other.set({ day, credits: 3600 })).calls).toBeUndefined();
      await Promise.all([running.close(), other.close()]);
    });

    it('is seen by the next booking of a program that runs', async () => {
      const { open } = await prepare();
      const running = await open();
      await running.reserve({ day, credits: 160, limit: 200 });
      await running.settle({ day, credits: 160 });
      expect(await running.reserve({ day, credits: 160, limit: 200 })).toBe(false);
      const other = await open();
      await other.set({ day, credits: 0 });
      expect(await running.reserve({ day, credits: 160, limit: 200 })).toBe(true);
      await Promise.all([running.close(), other.close()]);
    });

    it('holds the calls in flight on top, so that giving one back takes nothing from what was charged', async () => {
      const { open } = await prepare();
      const [running, other] = [await open(), await open()];
      for (let n = 0; n < 3; n += 1) await running.reserve({ day, credits: 160 });
      await running.settle({ day, credits: 160 });
      await running.reserve({ day, credits: 160 });
      expect(await other.set({ day, credits: 1600 })).toMatchObject({ before: 640, after: 2080, inFlight: 480 });
      await running.refund({ day, credits: 160 });
      await running.settle({ day, credits: 320 });
      expect(await other.booked(day)).toBe(1920);
      expect(await other.set({ day, credits: 1600 })).toMatchObject({ before: 1920, after: 1600, inFlight: 0 });
      await Promise.all([running.close(), other.close()]);
    });
  });
}

/** Opens ledgers of one place. */
export type OpenLedgerOf = (whose: LedgerOf) => Promise<DiskLedger>;

/** What ledgers of accounts do, to which several keys may belong. @param prepare makes a place without ledgers */
export function describeAccounts(name: string, prepare: () => Promise<OpenLedgerOf>): void {
  async function bookedOf(open: OpenLedgerOf, whose: LedgerOf): Promise<number> {
    const ledger = await open(whose);
    try {
      return await ledger.booked(day);
    } finally {
      await ledger.close();
    }
  }

  async function book(open: OpenLedgerOf, whose: LedgerOf, credits: number): Promise<void> {
    const ledger = await open(whose);
    await ledger.reserve({ day, credits });
    await ledger.settle({ day, credits });
    await ledger.close();
  }

  describe(`the ledger of an account ${name}`, () => {
    it('holds the bookings of all its keys, within one limit', async () => {
      const open = await prepare();
      const account = 'main';
      const [one, other] = [await open({ account, apiKey: 'one' }), await open({ account, apiKey: 'other' })];
      expect(await one.reserve({ day, credits: 160, limit: 400 })).toBe(true);
      expect(await other.reserve({ day, credits: 160, limit: 400 })).toBe(true);
      expect(await one.reserve({ day, credits: 160, limit: 400 })).toBe(false);
      await Promise.all([one.close(), other.close()]);
      expect(await bookedOf(open, { account })).toBe(320);
      expect(await bookedOf(open, { apiKey: 'one' })).toBe(0);
      expect(await bookedOf(open, { account: 'second', apiKey: 'one' })).toBe(0);
    });

    it('is apart from that of a key whose hash, or whose text, is its name', async () => {
      const open = await prepare();
      await book(open, { account: keyHash('one') }, 160);
      await book(open, { account: 'two' }, 320);
      expect(await bookedOf(open, { apiKey: 'one' })).toBe(0);
      expect(await bookedOf(open, { apiKey: 'two' })).toBe(0);
      expect(await bookedOf(open, { apiKey: 'account.two' })).toBe(0);
    });

    // Promise, Nothing overspent: An account takes over what each of its keys has booked on a day, once, in files and in PostgreSQL, whoever begins at once
    it('takes over what a key has booked on the day, once, however many begin at once', async () => {
      const open = await prepare();
      const whose = { account: 'main', apiKey: 'one' };
      await book(open, { apiKey: 'one' }, 1000);
      expect(await bookedOf(open, whose)).toBe(1000);
      const ledgers = await Promise.all(Array.from({ length: 4 }, () => open(whose)));
      await Promise.all(ledgers.map((ledger) => ledger.reserve({ day, credits: 10 })));
      expect(await ledgers[0]?.booked(day)).toBe(1040);
      expect(await ledgers[1]?.booked('2026-03-15')).toBe(0);
      await Promise.all(ledgers.map((ledger) => ledger.close()));
      // What the key books on its own since is not its account's.
      await book(open, { apiKey: 'one' }, 500);
      expect(await bookedOf(open, whose)).toBe(1040);
      expect(await bookedOf(open, { apiKey: 'one' })).toBe(1500);
    });

    it('takes over from each of its keys: a second one may have booked before it was named', async () => {
      const open = await prepare();
      await book(open, { apiKey: 'one' }, 100);
      await book(open, { apiKey: 'two' }, 20);
      await book(open, { account: 'main', apiKey: 'one' }, 3);
      expect(await bookedOf(open, { account: 'main' })).toBe(103);
      await book(open, { account: 'main', apiKey: 'two' }, 3);
      await book(open, { account: 'main', apiKey: 'one' }, 3);
      expect(await bookedOf(open, { account: 'main', apiKey: 'two' })).toBe(129);
    });

    it('counts what it took over in its limit from the first booking on', async () => {
      const open = await prepare();
      await book(open, { apiKey: 'one' }, 300);
      const ledger = await open({ account: 'main', apiKey: 'one' });
      expect(await ledger.reserve({ day, credits: 160, limit: 400 })).toBe(false);
      expect(await ledger.reserve({ day, credits: 100, limit: 400 })).toBe(true);
      await ledger.close();
    });

    it('is what a person sets it to, the bookings of the key included', async () => {
      const open = await prepare();
      await book(open, { apiKey: 'one' }, 300);
      const ledger = await open({ account: 'main', apiKey: 'one' });
      await ledger.set({ day, credits: 200 });
      expect(await ledger.reserve({ day, credits: 10 })).toBe(true);
      expect(await ledger.booked(day)).toBe(210);
      await ledger.close();
    });

    it('takes nothing over any more on a day that was set, whoever set it', async () => {
      const open = await prepare();
      await book(open, { apiKey: 'one' }, 1600);
      await book(open, { apiKey: 'two' }, 320);
      await book(open, { account: 'main', apiKey: 'one' }, 160);
      const ledger = await open({ account: 'main' });
      expect(await ledger.set({ day, credits: 2080 })).toMatchObject({ before: 1760, after: 2080, inFlight: 0 });
      await ledger.close();
      expect(await bookedOf(open, { account: 'main', apiKey: 'two' })).toBe(2080);
      await book(open, { account: 'main', apiKey: 'two' }, 160);
      await book(open, { account: 'main', apiKey: 'one' }, 160);
      expect(await bookedOf(open, { account: 'main' })).toBe(2400);
      // Another day was not set.
      const next = await open({ apiKey: 'two' });
      await next.reserve({ day: '2026-03-15', credits: 20 });
      await next.close();
      const account = await open({ account: 'main', apiKey: 'two' });
      expect(await account.booked('2026-03-15')).toBe(20);
      await account.close();
    });

    it('holds, after any order of bookings, each booking of its own and of its keys before their first use', async () => {
      const open = await prepare();
      for (const round of sampled([...Array(12).keys()], 4)) {
        const random = new SeededRandom([1, 2, 3, round]);
        const account = `round-${round}`;
        const own = new Map<string, number>();
        const used = new Set<string>();
        let expected = 0;
        for (let step = 0; step < 12; step += 1) {
          const apiKey = `key ${round} ${random.below(3)}`;
          const credits = 1 + random.below(50);
          if (random.below(2) === 0) {
            await book(open, { apiKey }, credits);
            own.set(apiKey, (own.get(apiKey) ?? 0) + credits);
          } else {
            await book(open, { account, apiKey }, credits);
            expected += credits + (used.has(apiKey) ? 0 : (own.get(apiKey) ?? 0));
            used.add(apiKey);
          }
        }
        expect(await bookedOf(open, { account })).toBe(expected);
      }
    });
  });
}
