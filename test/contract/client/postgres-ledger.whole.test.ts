import { describe, expect, it } from 'vitest';
import { type AssetAnswer, AttemptError } from '../../../src/core/client/asset-client.ts';
import { IdList } from '../../../src/core/ids/id-list.ts';
import { createClient } from '../../../src/core/client/create-client.ts';
import { Brake } from '../../../src/core/client/policies/brake.ts';
import { type DepartingCall, PassedOverrun } from '../../../src/core/client/policies/shared-pace.ts';
import {
  openPostgresLedger,
  type PostgresLedger,
  type PostgresLedgerOptions,
} from '../../../src/wings/fleet/ledger/postgres-ledger.ts';
import { keyHash } from '../../../src/core/client/ledger/ledger-file.ts';
import { readPostgresLedger } from '../../../src/wings/fleet/ledger/postgres-readings.ts';
import { type Clock, dayMs, systemClock, utcDay } from '../../../src/lib/clock.ts';
import { batchCall, idsOf, recordsOf } from '../../core/client/support/calls.ts';
import { throughGate } from '../../support/postgres-gate.ts';
import { until } from '../../support/until.ts';
import { mostInASecond, noteTurns } from '../../support/turns.ts';
import { postgresOfTests } from '../../wings/warehouse/postgres-of-tests.ts';
import { describeAccounts, describeCorrections, describeLedger } from './ledger-contract.ts';

const server = await postgresOfTests('the ledger in PostgreSQL is not tested');
let keys = 0;
const newKey = (): string => `key ${(keys += 1)}`;
const today = (): string => utcDay(Date.now());
const day = '2026-03-14';

function open(options: Partial<PostgresLedgerOptions> = {}): Promise<PostgresLedger> {
  return openPostgresLedger(server.address, { apiKey: newKey(), clock: systemClock, random: Math.random, ...options });
}

function openSeveral(count: number, options: Partial<PostgresLedgerOptions>): Promise<PostgresLedger[]> {
  const apiKey = newKey();
  return Promise.all(Array.from({ length: count }, () => open({ apiKey, ...options })));
}

async function closeAll(ledgers: readonly PostgresLedger[]): Promise<void> {
  await Promise.all(ledgers.map((ledger) => ledger.close()));
}

describe.skipIf(server.isMissing)('in PostgreSQL', () => {
  it('the schema is made by four that start at once, and found by those that come later', async () => {
    const ledgers = await openSeveral(4, {});
    await closeAll(ledgers);
    const found = await server.query(`select count(*) from pg_tables where schemaname = 'asset_export'`);
    expect(found.trim()).toBe('5');
    await server.query(`create role reader login; grant usage on schema asset_export to reader;
      grant select, insert, update, delete on all tables in schema asset_export to reader;`);
    const ledger = await openPostgresLedger(server.address.replace('user=tester', 'user=reader'), {
      apiKey: newKey(),
      clock: systemClock,
      random: Math.random,
    });
    expect(await ledger.reserve({ day, credits: 160 })).toBe(true);
    await ledger.close();
  });

  describeLedger('in PostgreSQL', () => open());
  describeCorrections('in PostgreSQL', () => {
    const apiKey = newKey();
    return Promise.resolve({ open: () => open({ apiKey }) });
  });

  describeAccounts('in PostgreSQL', async () => {
    await (await open()).close();
    await server.query('truncate asset_export.day, asset_export.flight, asset_export.taken');
    return (whose) => open({ apiKey: undefined, ...whose });
  });

  it('four that book at once take exactly the limit', async () => {
    const ledgers = await openSeveral(4, {});
    const bookings = ledgers.flatMap((ledger) =>
      Array.from({ length: 50 }, () => ledger.reserve({ day, credits: 160, limit: 100 * 160 })),
    );
    const booked = await Promise.all(bookings);
    expect(booked.filter(Boolean)).toHaveLength(100);
    expect(await ledgers[0]?.booked(day)).toBe(100 * 160);
    await closeAll(ledgers);
  });

  it('the key is not kept', async () => {
    const ledger = await open({ apiKey: 'canary-key-0123456789' });
    await ledger.reserve({ day, credits: 160 });
    await ledger.close();
    expect(
      await server.query('table asset_export.day; table asset_export.flight; table asset_export.pace'),
    ).not.toContain('canary');
  });

  it('four keep one pace: no second has more than 1.1 times the rate', async () => {
    const ledgers = await openSeveral(4, { creditsPerSecond: 200 * 160 });
    const turnsNoted = await noteTurns(server, { perSecond: 200 });
    await Promise.all(
      ledgers.map(async ({ pace }) => {
        for (let n = 0; n < 100; n += 1) await pace.turn(160);
      }),
    );
    const turns = await turnsNoted();
    expect(turns).toHaveLength(400);
    expect(mostInASecond(turns)).toBeLessThanOrEqual(220);
    // Not slower either: each leaves at once, or right behind the one before.
    for (const { beforeMs, leaveMs, givenMs } of turns)
      expect(leaveMs).toBeLessThanOrEqual(Math.max(beforeMs, givenMs));
    await closeAll(ledgers);
  });

  // Promise, Nothing overspent: A fleet with one database keeps its limit of calls over restarts
  it('four that send for one export pass its overrun in none of their calls, and over restarts neither', async () => {
    const apiKey = newKey();
    const ledgers = await openSeveral(4, { apiKey });
    const departure: DepartingCall = {
      export: 'night',
      planned: 0.5,
      sent: 1,
      mostPlanned: 10,
      overrun: { percent: 50, calls: 5 },
    };
    const turns = ledgers.flatMap((ledger) =>
      Array.from({ length: 20 }, () =>
        ledger.pace.turn(160, departure).then(
          () => 'sent',
          (error: unknown) => error,
        ),
      ),
    );
    const ends = await Promise.all(turns);
    // Half a call each is planned: at most ten calls, and so twenty may be sent.
    expect(ends.filter((end) => end === 'sent')).toHaveLength(20);
    const refused = ends.filter((end) => end instanceof PassedOverrun);
    expect(refused).toHaveLength(60);
    expect(refused.at(-1)?.sums).toEqual({ planned: 10, sent: 20 });
    expect(await ledgers[0]?.booked(today())).toBe(20 * 160);
    await closeAll(ledgers);
    const later = await open({ apiKey });
    await expect(later.pace.turn(160, departure)).rejects.toBeInstanceOf(PassedOverrun);
    // Another export has its own, more may be allowed, and what did not leave makes room.
    expect(await later.pace.turn(160, { ...departure, export: 'other' })).toBe(0);
    const more = { ...departure, overrun: { percent: 50, calls: 6 } };
    expect(await later.pace.turn(160, more)).toBe(0);
    later.pace.giveBack({ ...departure, planned: 0, sent: -2 });
    await later.close();
    const last = await open({ apiKey });
    expect(await last.pace.turn(160, departure)).toBe(0);
    await expect(last.pace.turn(160, departure)).rejects.toBeInstanceOf(PassedOverrun);
    expect(await last.pace.turn(160, { ...departure, overrun: undefined })).toBe(0);
    await last.close();
  });

  it('clients of several processes end together when their calls pass the overrun of an export', async () => {
    const apiKey = newKey();
    const [one, other] = (await openSeveral(2, { apiKey })) as [PostgresLedger, PostgresLedger];
    const fleet = { export: 'night', mostPlanned: 2 };
    const braked = (ledger: PostgresLedger) => {
      const brake = new Brake({ overrun: { percent: 0, calls: 4 }, fleet });
      brake.begin({ idsPerCall: 3 });
      return { brake, ask: clientOf(ledger, brake).ask };
    };
    const [first, second] = [braked(one), braked(other)];
    const answered = (ids: readonly string[]): Promise<AssetAnswer> => Promise.resolve(recordsOf(batchCall(ids)));
    // What never left does not count.
    let unsent = 2;
    const answeredLater = (ids: readonly string[]): Promise<AssetAnswer> => {
      unsent -= 1;
      return unsent < 0 ? answered(ids) : Promise.reject(new AttemptError('transport', 'reset', { unsent: true }));
    };
    await first.ask(3, answered);
    await second.ask(3, answeredLater);
    await second.ask(3, answered);
    for (let n = 0; n < 3; n += 1) await first.ask(3, answered);
    await expect(second.ask(3, answered)).rejects.toMatchObject({ exit: 'overrun', facts: { planned: 2, sent: 6 } });
    await expect(first.ask(3, answered)).rejects.toMatchObject({ exit: 'overrun' });
    first.brake.end(one.pace);
    second.brake.end(other.pace);
    await closeAll([one, other]);
    const sums = await server.query(
      `select sent from asset_export.sums where export = 'night' and key = '${keyHash(apiKey)}'`,
    );
    expect(sums.trim()).toBe('6');
  });

  it('a pause of one is a pause of all, and the longest holds', async () => {
    const [one, other] = (await openSeveral(2, {})) as [PostgresLedger, PostgresLedger];
    expect(await other.pace.turn(160)).toBe(0);
    await one.pace.pauseAll(30_000);
    await one.pace.pauseAll(1000);
    expect(await other.pace.turn(160)).toBeGreaterThan(25_000);
    expect(await other.pace.turn(160)).toBeLessThanOrEqual(30_000);
    await closeAll([one, other]);
  });

  it('what a turn booked is what the next call reserves, in one statement', async () => {
    const ledger = await open({ creditsPerDay: 480 });
    await ledger.pace.turn(160);
    expect(await ledger.booked(today())).toBe(160);
    expect(await ledger.reserve({ day: today(), credits: 160, limit: 480 })).toBe(true);
    expect(await ledger.booked(today())).toBe(160);
    await ledger.pace.turn(160);
    ledger.pace.unused(160);
    await ledger.pace.turn(160);
    expect(await ledger.booked(today())).toBe(320);
    await ledger.pace.turn(160);
    await ledger.pace.turn(160);
    expect(await ledger.booked(today())).toBe(480);
    for (const isBooked of [true, true, false])
      expect(await ledger.reserve({ day: today(), credits: 160, limit: 480 })).toBe(isBooked);
    await ledger.close();
  });

  it('credits of turns that were never used are given back at the end', async () => {
    const [one, other] = (await openSeveral(2, {})) as [PostgresLedger, PostgresLedger];
    await one.pace.turn(160);
    await one.pace.turn(160);
    await one.reserve({ day: today(), credits: 160 });
    await one.close();
    expect(await other.booked(today())).toBe(160);
    await other.close();
  });

  it('the clock of the database tells the days', async () => {
    const late: Clock = { ...systemClock, now: () => Date.now() - 3 * dayMs };
    const ledger = await open({ clock: late });
    expect(Math.abs(ledger.clock.now() - Date.now())).toBeLessThan(5000);
    await ledger.pace.turn(160);
    expect(await ledger.booked(today())).toBe(160);
    await ledger.close();
  });

  it('the most ids a call that anyone came to believe last are known to all', async () => {
    const [one, other] = (await openSeveral(2, {})) as [PostgresLedger, PostgresLedger];
    expect(await other.pace.idsPerCall()).toBeUndefined();
    await one.pace.learned(250);
    await other.pace.learned(100);
    expect(await one.pace.idsPerCall()).toBe(100);
    // A call of 400 was taken.
    await one.pace.learned(400);
    expect(await other.pace.idsPerCall()).toBe(400);
    await closeAll([one, other]);
  });

  it('a size is forgotten a day after it was last learned', async () => {
    const apiKey = newKey();
    const [one, other] = (await openSeveral(2, { apiKey })) as [PostgresLedger, PostgresLedger];
    await one.pace.learned(250);
    const age = `update asset_export.pace set learned_at = learned_at - interval '25 hours' where key = '${keyHash(apiKey)}'`;
    await server.query(age);
    expect(await other.pace.idsPerCall()).toBeUndefined();
    await one.pace.learned(400);
    expect(await other.pace.idsPerCall()).toBe(400);
    await closeAll([one, other]);
  });

  it('a turn without credits comes after those that have some, and takes none of theirs', async () => {
    const ledger = await open({ creditsPerDay: 480, creditsPerSecond: 16 });
    const waits = [];
    for (let n = 0; n < 5; n += 1) waits.push(await ledger.pace.turn(160));
    expect(waits[2]).toBeGreaterThan(10_000);
    expect(Math.abs((waits[3] ?? 0) - (waits[2] ?? 0))).toBeLessThan(5000);
    expect(Math.abs((waits[4] ?? 0) - (waits[2] ?? 0))).toBeLessThan(5000);
    expect(await ledger.booked(today())).toBe(480);
    await ledger.close();
  });

  it('what is booked is read by key and day, without changing anything', async () => {
    const apiKey = newKey();
    const ledger = await open({ apiKey });
    await ledger.reserve({ day, credits: 160 });
    await ledger.reserve({ day: '2026-03-15', credits: 320 });
    await ledger.close();
    const context = { clock: systemClock, random: Math.random };
    const booked = [
      { ledger: keyHash(apiKey), day, credits: 160 },
      { ledger: keyHash(apiKey), day: '2026-03-15', credits: 320 },
    ];
    expect(await readPostgresLedger(server.address, { ...context, apiKey })).toEqual(booked);
    expect(await readPostgresLedger(server.address, context)).toEqual(expect.arrayContaining(booked));
    await server.query('create database unused');
    expect(await readPostgresLedger(server.address.replace('/postgres?', '/unused?'), context)).toEqual([]);
  });

  it('a pause and a size that one client is told are known to the client of another process', async () => {
    const [one, other] = (await openSeveral(2, {})) as [PostgresLedger, PostgresLedger];
    const sizeRefused = { kind: 'refused', why: 'size', message: 'at most 2 ids', doubtful: false } as const;
    const throttled = new AttemptError('pace', 'HTTP 429', { status: 429, waitMs: 30_000 });
    const first = clientOf(one);
    const answered = (ids: readonly string[]): Promise<AssetAnswer> => Promise.resolve(recordsOf(batchCall(ids)));
    await first.ask(3, () => Promise.resolve(sizeRefused));
    await first.ask(2, answered);
    await until(async () => {
      expect(await other.pace.idsPerCall()).toBe(2);
    });
    void first.ask(1, () => Promise.reject(throttled)).catch(() => undefined);
    const second = clientOf(other);
    await until(async () => {
      await second.ask(1, answered);
      expect(Math.max(...second.sleptMs)).toBeGreaterThan(20_000);
    });
    first.stop.abort(new Error('stopped'));
    await closeAll([one, other]);
  });

  // Promise, Nothing overspent: A booking whose answer is lost counts as booked
  it('a booking whose answer is lost counts as booked, and is made again', async () => {
    const gate = await throughGate(server.address);
    const ledger = await openPostgresLedger(gate.address, { apiKey: newKey(), clock: systemClock, random: () => 0.01 });
    await ledger.reserve({ day, credits: 160 });
    gate.loseAnswers(2);
    expect(await ledger.reserve({ day, credits: 160 })).toBe(true);
    expect(await ledger.booked(day)).toBe(4 * 160);
    // Given back at most once: it is not sure that it was.
    gate.loseAnswers(1);
    await ledger.refund({ day, credits: 160 });
    expect(await ledger.booked(day)).toBe(3 * 160);
    await ledger.close();
  });
});

it.each(['postgres://user:canary@host/db', 'postgres://host/db?password=canary', 'mysql://host/db', 'canary'])(
  'the address %s is refused and not repeated',
  async (address) => {
    const options = { apiKey: 'key', clock: systemClock, random: Math.random };
    const refused = await openPostgresLedger(address, options).catch((error: unknown) => error);
    expect(refused).toMatchObject({ exit: 'usage' });
    expect(String(refused)).not.toContain('canary');
  },
);

/** A client over a ledger, which does not wait, but notes how long it would have. */
function clientOf(ledger: PostgresLedger, brake?: Brake) {
  const sleptMs: number[] = [0];
  const stop = new AbortController();
  const sleep = async (ms: number): Promise<void> => {
    sleptMs.push(ms);
    await new Promise(setImmediate);
  };
  const created = createClient({
    url: 'http://127.0.0.1:9',
    apiKey: 'key',
    concurrency: 4,
    timeoutMs: 60_000,
    retries: 2,
    random: () => 0,
    budget: { creditsPerCall: 160, whenSpent: 'stop' },
    ledger,
    pace: ledger.pace,
    stop: stop.signal,
    brake,
    journal: { find: () => Promise.resolve(undefined), append: () => Promise.resolve() },
    clock: { ...ledger.clock, sleep },
  });
  const ask = (count: number, send: (ids: readonly string[]) => Promise<AssetAnswer>): Promise<AssetAnswer> => {
    const ids = idsOf(count);
    return created.askUnderPolicies({ ids: IdList.of(ids), send: () => send(ids), sendAlone: () => send(ids) });
  };
  return { ask, stop, sleptMs };
}
