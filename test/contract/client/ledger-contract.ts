import { describe, expect, it } from 'vitest';
import type { CreditLedger, DiskLedger } from '../../../src/client/ledger/credit-ledger.ts';

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
      expect(await ledger.set({ day, credits: 320 })).toEqual({ before: 480, after: 320, inFlight: 0 });
      expect(await ledger.booked(day)).toBe(320);
      expect(await ledger.booked('2026-03-15')).toBe(0);
      expect(await ledger.reserve({ day, credits: 160, limit: 480 })).toBe(true);
      expect(await ledger.reserve({ day, credits: 160, limit: 480 })).toBe(false);
      await ledger.close();
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
      expect(await other.set({ day, credits: 1600 })).toEqual({ before: 640, after: 2080, inFlight: 480 });
      await running.refund({ day, credits: 160 });
      await running.settle({ day, credits: 320 });
      expect(await other.booked(day)).toBe(1920);
      expect(await other.set({ day, credits: 1600 })).toEqual({ before: 1920, after: 1600, inFlight: 0 });
      await Promise.all([running.close(), other.close()]);
    });
  });
}
