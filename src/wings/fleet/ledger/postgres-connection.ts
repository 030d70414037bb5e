import type { Pool } from 'pg';
import type { Clock } from '../../../lib/clock.ts';
import { codeOf, ExportError, messageOf } from '../../../lib/export-error.ts';
import { firstContactMs, neverAnswered } from '../../../lib/network.ts';
import { duration } from '../../../lib/format-text.ts';
import { LastSecond, untilAborted } from '../../../lib/end-work.ts';
import { loadOptional } from '../../../lib/packages/optional-packages.ts';
import { postgresAddressExample, postgresAddressProblem } from '../../../lib/addresses/address-kinds.ts';

/** The waits between attempts, in milliseconds. */
const [baseMs, capMs] = [200, 10_000] as const;

/** How long the database may be gone before a statement fails, in milliseconds. */
export const patience = {
  /** A call is to be sent: it waits. */
  callMs: 10 * 60_000,
  /** Somebody wants to see a figure. */
  figureMs: 10_000,
  /** Somebody waits to see whether the database answers at all. */
  glanceMs: 1000,
} as const;

/** How long a statement waits for its answer, in milliseconds. */
const answerLimitMs = 30_000;

export interface PostgresContext {
  readonly clock: Clock;
  /** A number from 0 up to 1, as Math.random. */
  readonly random: () => number;
  /** Aborted: nothing is repeated any more, and statements get one more second. */
  readonly abort?: AbortSignal | undefined;
  /** Takes messages: that the database stopped answering, and that it answers again. */
  readonly tell?: (message: string) => void;
}

type Row = Record<string, unknown>;

/** One connection, made again when it breaks. Statements go one after the other. */
export interface PostgresConnection {
  /**
   * The first row of a statement, which is repeated while the database is gone: it may be done more than once.
   * @param patienceMs how long the database may be gone, counted from when it was first missed
   * @throws {ExportError} `unavailable` when that is over, `cannotWrite` when the database refuses; the reason of `abort`
   */
  ask(statement: string, values?: readonly unknown[], patienceMs?: number): Promise<Row>;
  /** Does a statement at most once; resolves to whether it surely was done. @throws {ExportError} `cannotWrite` */
  tryOnce(statement: string, values: readonly unknown[]): Promise<boolean>;
  /** From now on nothing is repeated: what waits for the database fails. */
  stopWaiting(): void;
  close(): Promise<void>;
}

/** @throws {ExportError} `usage` when `pg` is not installed, or the address is none or holds a password */
export async function connectPostgres(address: string, context: PostgresContext): Promise<PostgresConnection> {
  const { clock, random, abort } = context;
  const pool = await openPool(address);
  const outage = newOutage(context);
  const stopped = new AbortController();
  const stopWaiting = (): void => {
    stopped.abort();
  };
  abort?.addEventListener('abort', stopWaiting, { once: true });
  const last = new LastSecond(abort);

  async function send(statement: string, values: readonly unknown[]): Promise<Row> {
    last.signal.throwIfAborted();
    try {
      const row = await untilAborted(firstRow(pool, statement, values), last.signal);
      outage.over();
      return row;
    } catch (error) {
      if (last.signal.aborted) throw error;
      if (!isPassing(error)) throw refused(error);
      outage.seen(error);
      throw error;
    }
  }

  return {
    ask: async (statement, values = [], patienceMs = patience.callMs) => {
      for (let attempt = 0; ; attempt += 1) {
        try {
          return await send(statement, values);
        } catch (error) {
          abort?.throwIfAborted();
          if (error instanceof ExportError) throw error;
          const waitMs = random() * Math.min(capMs, baseMs * 2 ** attempt);
          if (stopped.signal.aborted || outage.lastedMs() + waitMs > outage.mostMs(patienceMs))
            throw outage.gone(error);
          await clock.sleep(waitMs, stopped.signal).catch(() => undefined);
          abort?.throwIfAborted();
        }
      }
    },
    tryOnce: async (statement, values) => {
      try {
        await send(statement, values);
        return true;
      } catch (error) {
        if (error instanceof ExportError && error !== abort?.reason) throw error;
        return false;
      }
    },
    stopWaiting,
    close: async () => {
      abort?.removeEventListener('abort', stopWaiting);
      await untilAborted(pool.end(), last.signal).catch((error: unknown) => {
        if (!last.signal.aborted) throw error;
      });
      last.unlink();
    },
  };
}

/** @throws {ExportError} `usage` when `pg` is not installed, or the address is none or holds a password */
async function openPool(address: string): Promise<Pool> {
  const problem = postgresAddressProblem(address);
  if (problem !== undefined) {
    throw new ExportError('usage', `the address of the shared database ${problem}`, { todo: postgresAddressExample });
  }
  const pg = await loadPg();
  const limits = { connectionTimeoutMillis: 10_000, query_timeout: answerLimitMs, idleTimeoutMillis: 0 };
  const pool = new pg.Pool({ connectionString: address, max: 1, keepAlive: true, ...limits });
  // The next statement makes a new connection.
  pool.on('error', () => undefined);
  return pool;
}

async function firstRow(pool: Pool, statement: string, values: readonly unknown[]): Promise<Row> {
  // A script of several statements has several results.
  const answer: { readonly rows?: readonly Row[] } = await pool.query<Row>(statement, [...values]);
  return answer.rows?.[0] ?? {};
}

/** Since when the database does not answer. All statements of a process share it, so that their patience ends together. */
function newOutage({ clock, tell }: PostgresContext) {
  let sinceMs: number | undefined;
  let hasAnswered = false;
  const lastedMs = (): number => (sinceMs === undefined ? 0 : clock.monotonic() - sinceMs);
  const mostMs = (patienceMs: number): number => (hasAnswered ? patienceMs : Math.min(patienceMs, firstContactMs));
  return {
    lastedMs,
    mostMs,
    gone: (error: unknown) => (hasAnswered ? gone(error, lastedMs()) : unreached(error)),
    seen: (error: unknown): void => {
      hasAnswered ||= passingStates.test(codeOf(error) ?? '');
      if (sinceMs !== undefined) return;
      sinceMs = clock.monotonic();
      tell?.(
        `the shared database does not answer (${messageOf(error)}); calls wait up to ${duration(mostMs(patience.callMs))} for it`,
      );
    },
    over: (): void => {
      if (sinceMs !== undefined) tell?.(`the shared database answers again, after ${duration(lastedMs())}`);
      sinceMs = undefined;
      hasAnswered = true;
    },
  };
}

/** @throws {ExportError} `usage` when `pg` is not installed */
export async function requirePg(): Promise<void> {
  await loadPg();
}

async function loadPg(): Promise<Pick<typeof import('pg'), 'Pool'>> {
  const load = () => import('pg');
  return (await loadOptional({ what: 'a shared database (fleet.database)', packages: ['pg'], load })).default;
}

/** States of PostgreSQL that end by themselves: connections, resources, restarts, read-only in a failover, conflicts. */
const passingStates = /^(08|53|57P0|25006|40001|40P01|55P03|57014)/;

function isPassing(error: unknown): boolean {
  const code = codeOf(error);
  // The client's own errors have no code: those of connections and time limits pass, those of a password do not.
  if (code === undefined) return /timeout|terminated|closed|ended/i.test(messageOf(error));
  // PostgreSQL's own answers have five characters, most with a digit; those of the system are words.
  return /^E[A-Z_]+$/.test(code) || passingStates.test(code);
}

function refused(error: unknown): ExportError {
  return new ExportError('cannotWrite', `the shared database refused a statement: ${messageOf(error)}`, {
    todo: 'The database user needs permission to log in, and to create the schema asset_export or use its tables and functions.',
    cause: error,
  });
}

function unreached(error: unknown): ExportError {
  return neverAnswered('the shared database', error, 'Check fleet.database and the network. Nothing was sent.');
}

function gone(error: unknown, lastedMs: number): ExportError {
  const message = `the shared database did not answer for ${duration(lastedMs)}: ${messageOf(error)}`;
  return new ExportError('unavailable', message, {
    todo: 'Nothing was sent in the meantime. Run the same command again when the database answers.',
    cause: error,
  });
}
