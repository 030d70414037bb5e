import { setMaxListeners } from 'node:events';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type AssetClient, AttemptError } from '../../../../src/core/client/asset-client.ts';
import { createMemoryLedger } from '../../../../src/core/client/ledger/credit-ledger.ts';
import { Ended } from '../../../../src/core/client/policies/day-gate.ts';
import { withBudget } from '../../../../src/core/client/policies/with-budget.ts';
import { ExportError } from '../../../../src/lib/export-error.ts';
import { randomOf } from '../../../../packages/practice-service/src/generated/seeded-random.ts';
import { startGeneratedService } from '../../../support/service/generated-service.ts';
import { writeIdFile } from '../../../support/id-file.ts';
import { runProgram } from '../../../support/run-program.ts';
import { tempFolder } from '../../../support/temp-folder.ts';
import { beforeMidnight, budgeted, outcomes, times, today, tomorrow } from '../support/budgeted.ts';
import { batchCall, idOf, recordsOf } from '../support/calls.ts';
import { createFakeClock, settled } from '../../../support/fake-clock.ts';
import { judged } from '../support/judged.ts';
import { heldClient } from '../support/scripted-client.ts';

const call = batchCall([idOf(1)]);
const unsent = new AttemptError('transport', 'connection refused', { unsent: true });
const creditsPerCall = 160;

interface Schedule {
  readonly seed: number;
  readonly callsPerDay: number;
  /** Of 10 attempts, how many never leave. */
  readonly unsentInTen: number;
  /** The calls that each process may have under way at once. */
  readonly processes: readonly number[];
}

/** Exports that stop as soon as one of their calls is refused; resolves to what was sent and what is booked. */
async function run(schedule: Schedule): Promise<{ sent: number; booked: number; exits: Set<string> }> {
  const clock = createFakeClock();
  const ledger = createMemoryLedger();
  const random = randomOf(`last call ${schedule.seed}`);
  const exits = new Set<string>();
  let sent = 0;
  const service: AssetClient = {
    ask: async (asked) => {
      await clock.sleep(1 + random.below(500));
      if (random.below(10) < schedule.unsentInTen) throw unsent;
      sent += 1;
      return recordsOf(asked);
    },
  };
  const lives = schedule.processes.map(async (concurrency) => {
    const halt = new AbortController();
    setMaxListeners(0, halt.signal);
    const policy = { clock, random: () => random.below(1000) / 1000, stop: halt.signal };
    const limits = { creditsPerCall, creditsPerDay: schedule.callsPerDay * creditsPerCall + 100 };
    const ended = new Ended(halt.signal);
    const paid = withBudget(service, { clock, ...limits, whenSpent: 'stop', ledger, timeoutMs: 60_000, ended });
    const client = judged(paid, { ...policy, concurrency, retries: 100, hasAnswered: true });
    await Promise.allSettled(
      times(schedule.callsPerDay + 1, () =>
        client.ask(call).catch((error: unknown) => {
          if (error instanceof ExportError) exits.add(error.exit);
          halt.abort(error);
        }),
      ),
    );
  });
  await clock.runUntil(Promise.all(lives));
  return { sent, booked: await ledger.booked(today), exits };
}

describe('the credits of a day', () => {
  // Promise, Nothing overspent: Shared credits, also those returned late, are used to the last whole call
  it('are used to the last whole call by all who share them, whatever never left', async () => {
    const schedule: fc.Arbitrary<Schedule> = fc.record({
      seed: fc.nat(),
      callsPerDay: fc.integer({ min: 1, max: 20 }),
      unsentInTen: fc.integer({ min: 0, max: 7 }),
      processes: fc.array(fc.integer({ min: 1, max: 8 }), { minLength: 1, maxLength: 4 }),
    });
    await fc.assert(
      fc.asyncProperty(schedule, async (each) => {
        const { sent, booked, exits } = await run(each);
        expect([...exits]).toEqual(['spent']);
        expect([sent, booked]).toEqual([each.callsPerDay, each.callsPerDay * creditsPerCall]);
      }),
      { seed: 11, numRuns: 200 },
    );
  });

  it('are used to the last whole call by three programs at once', async () => {
    const folder = await tempFolder();
    await writeIdFile(join(folder, 'ids.txt'), { entries: 150 });
    const service = await startGeneratedService({ jitterMs: 40 });
    const environment = { ASSET_EXPORT_API_KEY: 'the-shared-key', ASSET_EXPORT_STATE: join(folder, 'state') };
    const command = ['run', '--ids', 'ids.txt', '--url', service.url, '--ids-per-call', '10', '--format', 'csv'];
    const programs = ['a', 'b', 'c'].map((out) =>
      runProgram([...command, '--out', out, '--credits-per-day', '1700'], { cwd: folder, environment }),
    );
    const ends = await Promise.all(programs);
    await service.stop();
    expect(ends.map(({ exit }) => exit)).toEqual([8, 8, 8]);
    expect(service.counts().calls).toBe(10);
  });
});

describe('a call that is refused while another is in flight', () => {
  it.each(['creditsPerRun', 'creditsPerDay'])('gets what that one gives back (%s)', async (limit) => {
    const inner = heldClient();
    const { client } = budgeted(inner, { [limit]: creditsPerCall });
    const first = client.ask(call);
    await settled();
    const second = client.ask(call);
    await settled();
    expect(inner.open).toHaveLength(1);
    inner.open[0]?.end(unsent);
    await expect(first).rejects.toBe(unsent);
    await settled();
    inner.open[1]?.end();
    expect(await second).toEqual(recordsOf(call));
  });

  it('is refused once nothing in flight can give anything back', async () => {
    const inner = heldClient();
    const { client, clock } = budgeted(inner, { creditsPerDay: 2 * creditsPerCall });
    const ends = outcomes(times(5, () => client.ask(call)));
    await settled();
    inner.open.forEach((each) => {
      each.end();
    });
    expect(await ends).toEqual(['answered', 'answered', 'spent', 'spent', 'spent']);
    expect(inner.open).toHaveLength(2);
    expect(clock.sleepers()).toBe(0);
  });

  it('is booked on the new day when that one ends after midnight', async () => {
    const ledger = createMemoryLedger();
    await ledger.reserve({ day: today, credits: creditsPerCall });
    const inner = heldClient();
    const limits = { creditsPerDay: 2 * creditsPerCall, startMs: beforeMidnight };
    const { client, clock } = budgeted(inner, { ...limits, ledger });
    const ends = outcomes(times(2, () => client.ask(call)));
    await clock.advance(15_000);
    expect(inner.open).toHaveLength(1);
    inner.open[0]?.end();
    await settled();
    inner.open[1]?.end();
    expect(await ends).toEqual(['answered', 'answered']);
    expect([await ledger.booked(today), await ledger.booked(tomorrow)]).toEqual([320, 320]);
  });

  it('waits for the next day once nothing in flight can give anything back, where the job says so', async () => {
    const inner = heldClient();
    const { client, clock, events } = budgeted(inner, { creditsPerDay: creditsPerCall, whenSpent: 'wait' });
    const work = times(3, () => client.ask(call));
    await settled();
    expect(events).toEqual([]);
    inner.open[0]?.end();
    await settled();
    expect(events.map(({ kind }) => kind)).toEqual(['waiting']);
    await clock.advance(24 * 3_600_000);
    inner.open[1]?.end();
    await clock.advance(24 * 3_600_000);
    inner.open[2]?.end();
    expect(await Promise.all(work)).toHaveLength(3);
  });
});
