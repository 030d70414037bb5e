import { randomUUID } from 'node:crypto';
import { type Clock, utcDay } from '../../../lib/clock.ts';
import { type DepartingCall, PassedOverrun } from '../../../core/client/policies/shared-pace.ts';
import { type LedgerOf, ledgerName, takenOver } from '../../../core/client/ledger/ledger-file.ts';
import type { PostgresConnection } from './postgres-connection.ts';

export interface OwnBookingsOptions extends LedgerOf {
  readonly clock: Clock;
  /** Limits of all processes together, in credits. */
  readonly creditsPerDay?: number | undefined;
  readonly creditsPerSecond?: number | undefined;
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

const bookStatement = 'select * from asset_export.book($1, $2, $3, $4, $5, $6, $7, $8)';
const departStatement =
  'select * from asset_export.depart($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)';

const giveBackStatement = `update asset_export.sums set planned = greatest(0, planned + $3), sent = greatest(0, sent + $4)
  where key = $1 and export = $2`;

/** What this process books. One statement at a time, so that each tells the credits that are in flight then. */
export class OwnBookings {
  readonly key: string;
  readonly clock: Clock;
  readonly #connection: PostgresConnection;
  readonly #options: OwnBookingsOptions;
  readonly #holder = randomUUID();
  /** The ledger whose bookings an account takes over, and the days on which it did. */
  readonly #from: string | undefined;
  readonly #takenDays = new Set<string>();
  readonly #days = new Map<string, OwnDay>();
  #last: Promise<unknown> = Promise.resolve();
  /** Credits of turns that were not used: the next turns book nothing. */
  #spare = 0;
  readonly #unsent: DepartingCall[] = [];
  /** When the last turn is due, by the clock that was given. */
  #dueMs = 0;
  /** Between the time of day of the database and the monotonic clock that was given. */
  #aheadMs: number;
  #lookedMs = Number.NEGATIVE_INFINITY;

  constructor(connection: PostgresConnection, options: OwnBookingsOptions) {
    this.#connection = connection;
    this.#options = options;
    this.key = ledgerName(options);
    this.#from = takenOver(options);
    const { clock } = options;
    // The days of the ledger are those of the database, whatever the clock of this machine does.
    this.#aheadMs = clock.now() - clock.monotonic();
    this.clock = {
      now: () => clock.monotonic() + this.#aheadMs,
      monotonic: () => clock.monotonic(),
      sleep: (ms, signal) => clock.sleep(ms, signal),
    };
  }

  /** Takes the database's time, and forgets processes and exports that ended long ago. */
  async begin(): Promise<void> {
    const forget = (table: string, days: number): Promise<unknown> =>
      this.#connection.ask(
        `delete from asset_export.${table} where key = $1 and seen < clock_timestamp() - make_interval(days => $2)`,
        [this.key, days],
      );
    await forget('flight', 3);
    await forget('sums', 100);
    const askedMs = this.#options.clock.monotonic();
    const { now_ms: nowMs } = await this.#connection.ask(
      'select extract(epoch from clock_timestamp()) * 1000 as now_ms',
    );
    this.#takeTime(askedMs, nowMs);
  }

  turn(credits: number, departure?: DepartingCall): Promise<number> {
    return this.#alone(async () => {
      const day = utcDay(this.clock.now());
      await this.#returnPrepaidBut(day);
      const isPaid = this.#spare >= credits && this.#dayOf(day).prepaid >= credits;
      const { creditsPerDay: limit } = this.#options;
      const booking = { day, credits: isPaid ? 0 : credits, limit: isPaid ? undefined : limit };
      const { isBooked, waitMs } = await this.#book(booking, { turn: credits, departure });
      if (isPaid) this.#spare -= credits;
      if (isBooked && !isPaid) this.#dayOf(day).prepaid += credits;
      const nowMs = this.#options.clock.monotonic();
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

  /** Takes over what the key's own ledger has booked on a day, once however often it is called. */
  async takeOver(day: string): Promise<void> {
    if (this.#from === undefined || this.#takenDays.has(day)) return;
    await this.#connection.ask('select asset_export.take_over($1, $2, $3)', [this.key, this.#from, day]);
    this.#takenDays.add(day);
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

  giveBack(departure: DepartingCall): void {
    this.#unsent.push(departure);
  }

  /** Gives back what nothing was sent for. */
  returnRest(): Promise<void> {
    return this.#alone(async () => {
      await this.#returnPrepaidBut(undefined);
      for (const { export: name, planned, sent } of this.#unsent.splice(0))
        await this.#connection.tryOnce(giveBackStatement, [this.key, name, planned, sent]);
    });
  }

  /** @throws {PassedOverrun} when the call that leaves with it would pass the overrun of its export: then nothing is booked */
  async #book(
    booking: { day: string; credits: number; limit?: number | undefined },
    { turn, departure }: { readonly turn?: number; readonly departure?: DepartingCall | undefined } = {},
  ) {
    const { day, credits, limit } = booking;
    await this.takeOver(day);
    const own = this.#dayOf(day);
    const inFlight = own.inFlight + credits;
    const pace = [turn ?? null, this.#options.creditsPerSecond ?? null];
    const askedMs = this.#options.clock.monotonic();
    const values = [this.key, day, this.#holder, credits, inFlight, limit ?? null, ...pace];
    const answer =
      departure === undefined
        ? await this.#connection.ask(bookStatement, values)
        : await this.#connection.ask(departStatement, [...values, ...departureValues(departure)]);
    this.#takeTime(askedMs, answer['now_ms']);
    if (answer['passed'] === true) {
      throw new PassedOverrun({ planned: Number(answer['planned']), sent: Number(answer['sent']) });
    }
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
    const answeredMs = this.#options.clock.monotonic();
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

function departureValues({ export: name, planned, sent, mostPlanned, overrun }: DepartingCall): unknown[] {
  return [name, planned, sent, mostPlanned, overrun?.percent ?? null, overrun?.calls ?? null];
}
