import { describe, expect, it } from 'vitest';
import { AttemptError } from '../../../../src/core/client/asset-client.ts';
import { type DiskLedger, openDiskLedger } from '../../../../src/core/client/ledger/credit-ledger.ts';
import { ExportError } from '../../../../src/lib/export-error.ts';
import { tempFolder } from '../../../support/temp-folder.ts';
import { beforeMidnight, budgeted, nineOClock, today, tomorrow } from '../support/budgeted.ts';
import { batchCall, idOf, recordsOf } from '../support/calls.ts';
import { createFakeClock } from '../../../support/fake-clock.ts';
import { alwaysClient, type Step, scriptedClient } from '../support/scripted-client.ts';

const call = batchCall([idOf(1)]);

async function diskLedger(): Promise<DiskLedger> {
  return openDiskLedger({ stateDir: await tempFolder(), apiKey: 'key' });
}

describe('the credits of a call in flight', () => {
  it.each([
    ['on one day', nineOClock, [160]],
    ['on both days, where it may last over midnight', beforeMidnight, [160, 160]],
  ])('stand in the ledger %s', async (_, startMs, inFlight) => {
    const ledger = await diskLedger();
    const seen: number[] = [];
    const inner = alwaysClient(async () => {
      for (const day of [today, tomorrow].slice(0, inFlight.length)) {
        seen.push((await ledger.set({ day, credits: 1600 })).inFlight);
      }
      return new AttemptError('transport', 'reset');
    });
    const { client } = budgeted(inner, { ledger, startMs });
    await expect(client.ask(call)).rejects.toThrow('reset');
    expect(seen).toEqual(inFlight);
    // It may have been charged, so it counts on top of what the provider said.
    for (const day of [today, tomorrow].slice(0, inFlight.length)) expect(await ledger.booked(day)).toBe(1760);
    await ledger.close();
  });

  it.each<[string, Step | undefined, number]>([
    ['is answered', undefined, 160],
    ['may have been charged', new AttemptError('transport', 'reset'), 160],
    ['never left', new AttemptError('transport', 'refused', { unsent: true }), 0],
    ['ended with a status that is free', new AttemptError('pace', '429', { status: 429 }), 0],
    ['was refused for good', new ExportError('notTrusted', 'no', { why: { kind: 'refused', status: 401 } }), 160],
    ['finds no credits at the service', new AttemptError('spent', '402', { status: 402 }), 160],
  ])('are in flight no longer once it %s', async (_, step, charged) => {
    for (const startMs of [nineOClock, beforeMidnight]) {
      const ledger = await diskLedger();
      const { client } = budgeted(scriptedClient(step === undefined ? [] : [step]), {
        ledger,
        startMs,
        freeStatuses: [429],
      });
      await client.ask(call).catch(() => undefined);
      expect(await ledger.booked(today)).toBe(charged);
      for (const day of [today, tomorrow]) expect(await ledger.set({ day, credits: 0 })).toMatchObject({ inFlight: 0 });
      await ledger.close();
    }
  });

  it('are in flight no longer on either day once it is answered after midnight', async () => {
    const ledger = await diskLedger();
    const clock = createFakeClock(beforeMidnight);
    const inner = alwaysClient(async (asked) => {
      await clock.advance(15_000);
      return recordsOf(asked);
    });
    const { client } = budgeted(inner, { ledger, clock });
    await client.ask(call);
    for (const day of [today, tomorrow]) {
      expect(await ledger.set({ day, credits: 0 })).toMatchObject({ before: 160, after: 0, inFlight: 0 });
    }
    await ledger.close();
  });

  it('are in flight no longer when it could not be counted and is not sent', async () => {
    const ledger = await diskLedger();
    const failure = new ExportError('cannotWrite', 'disk full');
    const { client } = budgeted(scriptedClient(), { ledger, onCall: () => Promise.reject(failure) });
    await expect(client.ask(call)).rejects.toBe(failure);
    expect(await ledger.set({ day: today, credits: 0 })).toMatchObject({ before: 0, after: 0, inFlight: 0 });
    await ledger.close();
  });
});
