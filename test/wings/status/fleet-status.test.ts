import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createMemoryLedger } from '../../../src/core/client/ledger/credit-ledger.ts';
import type { ServiceState } from '../../../src/core/client/asset-client.ts';
import type { HttpClientOptions } from '../../../src/core/client/wire/http-client.ts';
import { ExportError } from '../../../src/lib/export-error.ts';
import { readExportReport } from '../../../src/wings/report/report-export.ts';
import { statusAt } from '../../../src/wings/status/export-status.ts';
import type { ExportContext } from '../../../src/core/run/export-context.ts';
import { goodAnswer, writeSmallIds } from '../../model/support/small-export.ts';
import { SmallFleet, steps } from '../../model/support/small-fleet.ts';
import { createFakeClock, type FakeClock } from '../../support/fake-clock.ts';
import { keptFolder } from '../../support/temp-folder.ts';
// Loaded before the tests: while a module loads, the clock of a test would run ahead of its workers.
import '../../../src/core/run/homes/open-home.ts';

let folder: Awaited<ReturnType<typeof keptFolder>>;
let idsPath: string;

beforeAll(async () => {
  folder = await keptFolder();
  idsPath = writeSmallIds(folder.path);
});

afterAll(() => folder.remove());

/** Answers each call after its own number of seconds; those that have none wait until they are aborted. Tells of an error first. */
function slowService({ seconds, trouble, service }: Service, clock: FakeClock): NonNullable<ExportContext['openWire']> {
  let calls = 0;
  return ({ listener, abort }: HttpClientOptions) => ({
    ask: async (call) => {
      const ms = (seconds[calls] ?? 1_000_000) * 1000;
      calls += 1;
      listener?.({ kind: 'sent', ids: call.ids.length });
      if (calls === 1 && trouble !== undefined) {
        listener?.({ kind: 'failed', why: 'http_5xx' });
        listener?.({ kind: 'retry', reason: trouble, why: 'http_5xx', waitMs: 0, attempt: 1 });
      }
      if (calls === 1 && service !== undefined) listener?.({ kind: 'service', ...service });
      await clock.sleep(ms, abort);
      listener?.({ kind: 'answered', ids: call.ids.length, bytes: 100, ms });
      return goodAnswer(call);
    },
    close: () => Promise.resolve(),
  });
}

interface Service {
  readonly seconds: readonly number[];
  readonly trouble?: string;
  readonly service?: { readonly state: ServiceState; readonly message: string };
}

/** Two workers of an export of two slices of two parts of three calls of four ids. A heartbeat follows each 15 seconds. */
async function twoWorkers(...services: readonly [Service, Service]) {
  const first = new SmallFleet(idsPath);
  await first.enqueue();
  const clock = createFakeClock(Date.UTC(2026, 2, 14, 9));
  const ledger = createMemoryLedger();
  const stop = new AbortController();
  const workers = [first, new SmallFleet(idsPath, first.bucket)].map((fleet, index) =>
    fleet.run({
      make: steps.work({ index, count: 2 }),
      flags: { 'credits-per-day': '16000' },
      context: {
        clock,
        ledger,
        stop: stop.signal,
        abort: stop.signal,
        openWire: slowService(services[index] ?? { seconds: [] }, clock),
      },
    }),
  );
  const place = { files: first.disk.files, folder: 's3://bucket/small', store: first.bucket.open() };
  const status = () => statusAt(place, clock.now());
  const report = () => readExportReport({ place, nowMs: clock.now(), version: '1', extent: 'none' });
  const end = async () => {
    stop.abort(new ExportError('terminated', 'stopped'));
    await clock.runUntil(Promise.all(workers), 'wait');
  };
  return { clock, status, report, end };
}

describe('status of a fleet', () => {
  it('counts what living workers have fetched, their speed and the credits, and what they left', async () => {
    const { clock, status, report, end } = await twoWorkers({ seconds: [2, 4], trouble: 'HTTP 503' }, { seconds: [6] });
    await clock.advance(16_000);
    const seen = await status();
    expect(seen).toMatchObject({ state: 'running', fetched: 12, parts: 0, total: 34, retries: 1, exit: null });
    expect(seen).toMatchObject({ callsInFlight: 2, creditsToday: 960, creditsLeft: 15_040, lastError: 'HTTP 503' });
    expect(seen.fleet?.workers).toMatchObject([{ fetched: 8 }, { fetched: 4 }]);
    const { account, pending, counts } = await report();
    expect(account, 'the report has the same figures').toMatchObject({
      rows: 0,
      fetched: 12,
      pending: 34,
      creditsLeft: 15_040,
    });
    expect(seen).toMatchObject(account);
    expect({ pending, read: counts.read }).toEqual({ pending: 34, read: 34 });
    expect(seen.rate).toBeGreaterThan(0);
    expect(seen.etaMs).toBeCloseTo((22 / (seen.rate ?? 0)) * 1000, -1);
    await end();
    expect(await status()).toMatchObject({ state: 'stopped', fetched: 12, fleet: { held: 0, kept: 12 }, exit: 143 });
  });

  it('shows the service as the worker in most trouble does, and as nothing once no worker lives', async () => {
    const probing = { state: 'probing', message: 'no answer since 09:00:00 UTC' } as const;
    const searching = { state: 'searching', message: 'one of 4 ids makes the service fail' } as const;
    const { clock, status, end } = await twoWorkers(
      { seconds: [2], service: probing },
      { seconds: [4], service: searching },
    );
    await clock.advance(16_000);
    expect(await status()).toMatchObject({ state: 'running', service: 'probing', serviceMessage: probing.message });
    await end();
    const ended = await status();
    expect(ended).toMatchObject({ state: 'stopped', serviceMessage: null });
    expect(ended).not.toHaveProperty('service');
  });

  it('does not count as fetched what was committed since the last heartbeat', async () => {
    const { clock, status, end } = await twoWorkers({ seconds: [6] }, { seconds: [2, 4, 20] });
    await clock.advance(16_000);
    expect(await status()).toMatchObject({ fetched: 12, parts: 0 });
    await clock.advance(10_000);
    // The disk takes its time, the clock none.
    while ((await status()).parts === 0) await clock.advance(0);
    expect(await status()).toMatchObject({ fetched: 4, parts: 1 });
    await end();
  });
});
