import { randomUUID } from 'node:crypto';
import { type Clock, utcDay } from '../../lib/clock.ts';
import type { SharedPace } from '../policies/shared-pace.ts';
import type { DiskLedger } from './credit-ledger.ts';
import { keyHash } from './ledger-file.ts';
import { connectPostgres, patience, type PostgresConnection, type PostgresContext } from './postgres-connection.ts';
import { makeSchema } from './postgres-schema.ts';

export interface PostgresLedgerOptions extends PostgresContext {
  /** Only its hash is kept. */
  readonly apiKey: string;
  /** Limits of all processes together, in credits. */
  readonly creditsPerDay?: number | undefined;
  readonly creditsPerSecond?: number | undefined;
}

/** The ledger and the pace of all processes that share a database. */
export interface PostgresLedger extends DiskLedger {
  /** `turn` waits while the database is gone, so that nothing is sent. */
  readonly pace: SharedPace;
  /** Our clock, set to the database's time: the policies have to use it, for it tells days. */
  readonly clock: Clock;
}

/** What this process has booked on a day, in credits. */
interface OwnDay {
  /** Neither settled nor refunded, `prepaid` included. */
  inFlight: number;
  /** Booked by turns, and not reserved yet. */
  prepaid: number;
}

/** How long the clocks are taken to keep their distance, in milliseconds. */
const clockLookMs = 3_600_000;

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
      const { booked } = await connection.ask(
        'select coalesce(sum(booked), 0) as booked from asset_export.day where key = $1 and day = $2',
        [key, day],
        patience.figureMs,
      );
      return Number(booked);
    },
    set: async ({ day, credits }) => {
      const found = await connection.ask('select * from asset_export.correct($1, $2, $3)', [key, day, credits]);
      const inFlight = Number(found['in_flight']);
      return { before: Number(found['before_credits']), after: credits + inFlight, inFlight };
    },
    close: async () => {
      connection.stopWaiting();
      await own.returnPrepaid();
      await connection.close();
    },
  };
}

function sharedPace(own: OwnBookings, connection: PostgresConnection): SharedPace {
  const { key } = own;
  return {
    turn: (credits) => own.turn(credits),
    unused: (credits) => {
      own.unused(credits);
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

const bookStatement = 'select * from asset_export.book($1, $2, $3, $4, $5, $6, $7, $8)';

/** What this process books. One statement at a time, so that each tells the credits that are in flight then. */
class OwnBookings {
  readonly key: string;
  readonly clock: Clock;
  readonly #connection: PostgresConnection;
  readonly #options: PostgresLedgerOptions;
  readonly #holder = randomUUID();
  readonly #days = new Map<string, OwnDay>();
  #last: Promise<unknown> = Promise.resolve();
  /** Credits of turns that were not used: the next turns book nothing. */
  #spare = 0;
  /** When the last turn is due, by the clock that was given. */
  #dueMs = 0;
  #aheadMs = 0;
  #lookedMs = Number.NEGATIVE_INFINITY;

  constructor(connection: PostgresConnection, options: PostgresLedgerOptions) {
    this.#connection = connection;
    this.#options = options;
    this.key = keyHash(options.apiKey);
    const { clock } = options;
    this.clock = { now: () => clock.now() + this.#aheadMs, sleep: (ms, signal) => clock.sleep(ms, signal) };
  }

  /** Takes the database's time, and forgets processes that ended long ago. */
  async begin(): Promise<void> {
    await this.#connection.ask(
      `delete from asset_export.flight where key = $1 and seen < clock_timestamp() - interval '3 days'`,
      [this.key],
    );
    const askedMs = this.#options.clock.now();
    const { now_ms: nowMs } = await this.#connection.ask(
      'select extract(epoch from clock_timestamp()) * 1000 as now_ms',
    );
    this.#takeTime(askedMs, nowMs);
  }

  turn(credits: number): Promise<number> {
    return this.#alone(async () => {
      const day = utcDay(this.clock.now());
      await this.#returnPrepaidBut(day);
      const isPaid = this.#spare >= credits && this.#dayOf(day).prepaid >= credits;
      if (isPaid) this.#spare -= credits;
      const { creditsPerDay: limit } = this.#options;
      const booking = { day, credits: isPaid ? 0 : credits, limit: isPaid ? undefined : limit };
      const { isBooked, waitMs } = await this.#book(booking, credits);
      if (isBooked && !isPaid) this.#dayOf(day).prepaid += credits;
      const nowMs = this.#options.clock.now();
      // Without credits there is no turn. It comes after those that have some, so that it does not take theirs.
      if (!isBooked) return Math.max(0, this.#dueMs - nowMs);
      this.#dueMs = nowMs + waitMs;
      return waitMs;
    });
  }

  unused(credits: number): void {
    this.#spare += credits;
  }

  async reserve(booking: { day: string; credits: number; limit?: number | undefined }): Promise<boolean> {
    const own = this.#dayOf(booking.day);
    if (own.prepaid >= booking.credits) {
      own.prepaid -= booking.credits;
      return true;
    }
    const { isBooked } = await this.#alone(() => this.#book(booking));
    return isBooked;
  }

  refund(day: string, credits: number): Promise<void> {
    return this.#alone(async () => {
      const own = this.#dayOf(day);
      const returned = Math.min(credits, own.inFlight);
      own.inFlight -= returned;
      const values = [this.key, day, this.#holder, returned, own.inFlight];
      // Twice would be too much: where it is not sure, the credits stay booked.
      await this.#connection.tryOnce('select asset_export.give_back($1, $2, $3, $4, $5)', values);
    });
  }

  settle(day: string, credits: number): Promise<void> {
    return this.#alone(async () => {
      const own = this.#dayOf(day);
      own.inFlight = Math.max(0, own.inFlight - credits);
      // The next booking tells the others; only when none may follow is it worth a statement.
      if (own.inFlight > 0) return;
      await this.#connection.tryOnce('select asset_export.fly($1, $2, $3, $4)', [this.key, day, this.#holder, 0]);
    });
  }

  returnPrepaid(): Promise<void> {
    return this.#alone(() => this.#returnPrepaidBut(undefined));
  }

  async #book(booking: { day: string; credits: number; limit?: number | undefined }, turn?: number) {
    const { day, credits, limit } = booking;
    const own = this.#dayOf(day);
    const inFlight = own.inFlight + credits;
    const pace = [turn ?? null, this.#options.creditsPerSecond ?? null];
    const askedMs = this.#options.clock.now();
    const values = [this.key, day, this.#holder, credits, inFlight, limit ?? null, ...pace];
    const answer = await this.#connection.ask(bookStatement, values);
    this.#takeTime(askedMs, answer['now_ms']);
    const isBooked = answer['booked'] === true;
    if (isBooked) own.inFlight = inFlight;
    return { isBooked, waitMs: Number(answer['wait_ms']) };
  }

  /** Gives back what turns booked that no call will use: those of other days, or all. */
  async #returnPrepaidBut(today: string | undefined): Promise<void> {
    for (const [day, own] of this.#days) {
      if (day === today || own.prepaid === 0) continue;
      const returned = own.prepaid;
      own.prepaid = 0;
      own.inFlight -= returned;
      const values = [this.key, day, this.#holder, returned, own.inFlight];
      await this.#connection.tryOnce('select asset_export.give_back($1, $2, $3, $4, $5)', values);
    }
  }

  /** @param nowMs the database's time, as it answered */
  #takeTime(askedMs: number, nowMs: unknown): void {
    const answeredMs = this.#options.clock.now();
    if (answeredMs - this.#lookedMs < clockLookMs) return;
    this.#lookedMs = answeredMs;
    this.#aheadMs = Math.round(Number(nowMs) - (askedMs + answeredMs) / 2);
  }

  #dayOf(day: string): OwnDay {
    const known = this.#days.get(day) ?? { inFlight: 0, prepaid: 0 };
    this.#days.set(day, known);
    return known;
  }

  #alone<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(work);
    this.#last = done.catch(() => undefined);
    return done;
  }
}
