import type { Clock } from '../../../lib/clock.ts';
import type { SharedPace } from '../../../core/client/policies/shared-pace.ts';
import type { DiskLedger } from '../../../core/client/ledger/credit-ledger.ts';
import { OwnBookings, type OwnBookingsOptions } from './own-bookings.ts';
import { connectPostgres, patience, type PostgresConnection, type PostgresContext } from './postgres-connection.ts';
import { makeSchema } from './postgres-schema.ts';

export interface PostgresLedgerOptions extends PostgresContext, OwnBookingsOptions {}

/** The ledger and the pace of all processes that share a database. */
export interface PostgresLedger extends DiskLedger {
  /** `turn` waits while the database is gone, so that nothing is sent. */
  readonly pace: SharedPace;
  /** Our clock, set to the database's time: the policies have to use it, for it tells days. */
  readonly clock: Clock;
}

/**
 * A ledger in PostgreSQL 13 or newer, in a schema `asset_export` that is made where it is missing. One statement a call books
 * its credits on the database's day, takes its turn and sees pauses: `pace.turn` sends it, and `reserve` takes what it booked.
 * Without an answer the statement is repeated, and nothing is sent. What may have been booked counts as booked, so the
 * ledger may be above what was charged, never below. A limit for one run (`creditsPerRun`) is no business of it.
 * @param address `postgres://user@host/database` without a password
 * @throws {ExportError} `usage`; `unavailable` when the database is gone for 10 minutes; `cannotWrite` when it refuses
 */
export async function openPostgresLedger(address: string, options: PostgresLedgerOptions): Promise<PostgresLedger> {
  const connection = await connectPostgres(address, options);
  try {
    await makeSchema(connection);
    const own = new OwnBookings(connection, options);
    await own.begin();
    return sharedLedger(own, connection);
  } catch (error) {
    await connection.close();
    throw error;
  }
}

function sharedLedger(own: OwnBookings, connection: PostgresConnection): PostgresLedger {
  const { key } = own;
  return {
    clock: own.clock,
    pace: sharedPace(own, connection),
    reserve: (booking) => own.reserve(booking),
    refund: ({ day, credits }) => own.refund(day, credits),
    settle: ({ day, credits }) => own.settle(day, credits),
    booked: async (day) => {
      await own.takeOver(day);
      const { booked } = await connection.ask(
        'select coalesce(sum(booked), 0) as booked from asset_export.day where key = $1 and day = $2',
        [key, day],
        patience.figureMs,
      );
      return Number(booked);
    },
    set: async ({ day, credits }) => {
      await own.takeOver(day);
      const found = await connection.ask('select * from asset_export.correct_day($1, $2, $3)', [key, day, credits]);
      const inFlight = Number(found['in_flight']);
      const { calls, price } = found;
      const known = calls === null || price === null ? {} : { calls: { number: Number(calls), price: Number(price) } };
      return { before: Number(found['before_credits']), after: credits + inFlight, inFlight, ...known };
    },
    close: async () => {
      connection.stopWaiting();
      await own.returnRest();
      await connection.close();
    },
  };
}

function sharedPace(own: OwnBookings, connection: PostgresConnection): SharedPace {
  const { key } = own;
  return {
    turn: (credits, departure) => own.turn(credits, departure),
    unused: (credits) => {
      own.unused(credits);
    },
    giveBack: (departure) => {
      own.giveBack(departure);
    },
    pauseAll: async (ms) => {
      await connection.ask('select asset_export.pause($1, $2)', [key, ms]);
    },
    idsPerCall: async () => {
      const found = await connection.ask(
        'select asset_export.learned_ids(p) as ids from asset_export.pace p where key = $1',
        [key],
      );
      return typeof found['ids'] === 'string' ? Number(found['ids']) : undefined;
    },
    learned: async (idsPerCall) => {
      await connection.ask('select asset_export.learn($1, $2)', [key, idsPerCall]);
    },
  };
}
