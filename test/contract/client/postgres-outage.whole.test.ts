import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { PostgresContext } from '../../../src/wings/fleet/ledger/postgres-connection.ts';
import { openPostgresLedger } from '../../../src/wings/fleet/ledger/postgres-ledger.ts';
import { schemaStatements, schemaVersion } from '../../../src/wings/fleet/ledger/postgres-schema.ts';
import { systemClock, utcDay } from '../../../src/lib/clock.ts';
import { throughGate } from '../../support/postgres-gate.ts';
import { postgresOfTests } from '../../wings/warehouse/postgres-of-tests.ts';

const server = await postgresOfTests('the ledger in PostgreSQL is not tested');
const nowhere = 'postgres://user@127.0.0.1:1/db';
let keys = 0;

/** A clock whose waits take no time, and what was told. */
function hurried() {
  let nowMs = Date.now();
  const told: string[] = [];
  const clock = {
    now: () => nowMs,
    monotonic: () => nowMs,
    sleep: async (ms: number) => {
      nowMs += ms;
      await new Promise(setImmediate);
    },
  };
  const context: PostgresContext = { clock, random: () => 1, tell: (message) => told.push(message) };
  return { clock, told, context, apiKey: `key ${(keys += 1)}` };
}

describe('a database that is gone', () => {
  it('ends with `unavailable` after 30 seconds where it never answered, by the clock that is given', async () => {
    const { clock, told, context, apiKey } = hurried();
    const beganMs = clock.now();
    await expect(openPostgresLedger(nowhere, { ...context, apiKey })).rejects.toMatchObject({
      exit: 'unavailable',
      message: expect.stringMatching(/^cannot reach the shared database, it never answered: .*ECONNREFUSED/) as string,
    });
    expect(clock.now() - beganMs).toBeGreaterThan(10_000);
    expect(clock.now() - beganMs).toBeLessThanOrEqual(30_000);
    expect(told).toEqual([expect.stringContaining('wait up to 30.0 s')]);
  });
});

describe.skipIf(server.isMissing)('a database that goes away', () => {
  it('is waited for, and it is told once that it is gone and that it is back', async () => {
    const gate = await throughGate(server.address);
    const { clock, told, context, apiKey } = hurried();
    const sleep = async (ms: number): Promise<void> => {
      await clock.sleep(ms);
      if (told.length === 1 && (slept += 1) === 5) gate.open();
    };
    let slept = 0;
    const ledger = await openPostgresLedger(gate.address, { ...context, clock: { ...clock, sleep }, apiKey });
    await ledger.pace.turn(160);
    gate.close();
    await Promise.all([ledger.pace.turn(160), ledger.pace.turn(160)]);
    expect(told).toEqual([
      expect.stringContaining('the shared database does not answer'),
      expect.stringContaining('the shared database answers again, after'),
    ]);
    // Nothing was booked by those that did not arrive.
    expect(await ledger.booked(utcDay(ledger.clock.now()))).toBe(3 * 160);
    await ledger.close();
  });

  // Promise, Nothing overspent: A lost database ends the run with 5 after 10 minutes
  it('ends the patience of all who wait at once, and figures are waited for 10 seconds only', async () => {
    const gate = await throughGate(server.address);
    const { clock, context, apiKey } = hurried();
    const ledger = await openPostgresLedger(gate.address, { ...context, apiKey });
    gate.close();
    const beganMs = clock.now();
    await expect(ledger.booked('2026-03-14')).rejects.toMatchObject({ exit: 'unavailable' });
    expect(clock.now() - beganMs).toBeLessThanOrEqual(10_000);
    const waits = await Promise.allSettled([1, 2, 3, 4].map(() => ledger.pace.turn(160)));
    expect(waits.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected', 'rejected']);
    expect(clock.now() - beganMs).toBeGreaterThan(9 * 60_000);
    expect(clock.now() - beganMs).toBeLessThanOrEqual(10 * 60_000);
    await ledger.close();
  });

  it('does not hold up who closes the ledger', async () => {
    const gate = await throughGate(server.address);
    const { context, apiKey } = hurried();
    const clock = {
      ...systemClock,
      // A wait ends only when it is broken off.
      sleep: (_: number, signal?: AbortSignal) =>
        new Promise<void>((_, reject) => {
          signal?.addEventListener('abort', () => {
            reject(new Error('broken off'));
          });
        }),
    };
    const ledger = await openPostgresLedger(gate.address, { ...context, clock, apiKey });
    gate.close();
    const turn = ledger.pace.turn(160);
    turn.catch(() => undefined);
    await ledger.close();
    await expect(turn).rejects.toMatchObject({ exit: 'unavailable' });
  });
});

describe.skipIf(server.isMissing)('the schema of a shared database', () => {
  const book = `select md5(prosrc) from pg_proc where proname = 'book'`;

  async function database(name: string) {
    await server.query(`create database ${name}`);
    const address = server.address.replace('/postgres?', `/${name}?`);
    const open = async (): Promise<void> => {
      await (await openPostgresLedger(address, { ...hurried().context, apiKey: 'key' })).close();
    };
    const sql = (script: string): Promise<string> => server.query(script, name);
    return { open, sql };
  }

  it('is left alone by a program of the same version', async () => {
    const { open, sql } = await database('same');
    await open();
    await sql(`create or replace function asset_export.pause(p_key text, p_ms float8) returns void language sql as ''`);
    await open();
    expect(await sql(`select prosrc from pg_proc where proname = 'pause'`)).toBe('\n');
  });

  it('is refused and left alone where an older program made it', async () => {
    const { open, sql } = await database('older');
    await open();
    await sql(`drop function asset_export.book; comment on schema asset_export is 'asset-export schema 4'`);
    await expect(open()).rejects.toMatchObject({
      exit: 'damaged',
      message: 'the shared database was set up by an older version of asset-export',
      todo: expect.stringContaining('drop the schema asset_export') as string,
    });
    expect(await sql(book)).toBe('');
  });

  // Promise, Nothing overspent: Two versions of the program keep their own database functions
  it('is refused and left alone where a newer program made it', async () => {
    const { open, sql } = await database('newer');
    await open();
    await sql(`drop function asset_export.book; comment on schema asset_export is 'asset-export schema 999'`);
    await expect(open()).rejects.toMatchObject({
      exit: 'damaged',
      message: expect.stringContaining('newer version') as string,
    });
    expect(await sql(book)).toBe('');
  });

  it('has a new version with each change', () => {
    // A changed hash: raise `schemaVersion`, keep what older programs call, and put both here.
    const hash = createHash('sha256').update(schemaStatements).digest('hex').slice(0, 16);
    expect({ schemaVersion, hash }).toEqual({ schemaVersion: 5, hash: 'b98e854239a2be22' });
  });
});
