import { expect, it } from 'vitest';
import { createMemoryLedger, type CreditLedger } from '../../../../src/core/client/ledger/credit-ledger.ts';
import { beforeMidnight, budgeted, outcomes, times, today } from '../support/budgeted.ts';
import { batchCall, idOf, recordsOf } from '../support/calls.ts';
import { alwaysClient } from '../support/scripted-client.ts';

const call = batchCall([idOf(1)]);

/** A ledger whose bookings take different times, and that gives up where the fault was an endless loop. */
function unevenLedger(most: number): CreditLedger {
  const ledger = createMemoryLedger();
  let bookings = 0;
  return {
    ...ledger,
    reserve: async (booking) => {
      bookings += 1;
      if (bookings > most) throw new Error(`more than ${most} bookings`);
      for (let turn = bookings % 7; turn > 0; turn -= 1) await Promise.resolve();
      return ledger.reserve(booking);
    },
  };
}

it.each([
  ['the day', { creditsPerDay: 320 }],
  ['the second day of calls near midnight', { creditsPerDay: 320, startMs: beforeMidnight }],
  ['the run', { creditsPerRun: 320 }],
  // Promise, Nothing overspent: A run with a spent budget always ends
])('calls that are refused at the same moment for want of credits of %s all end', async (_, options) => {
  const { client, ledger } = budgeted(
    alwaysClient((asked) => Promise.resolve(recordsOf(asked))),
    { ...options, ledger: unevenLedger(500) },
  );
  const ended = await outcomes(times(24, () => client.ask(call)));
  expect(ended.filter((each) => each === 'answered')).toHaveLength(2);
  expect(new Set(ended)).toEqual(new Set(['answered', 'spent']));
  expect(await ledger.booked(today)).toBe(320);
});
