import type { Clock } from '../../lib/clock.ts';
import { codeOf, ExportError, messageOf } from '../../lib/export-error.ts';

/** The waits between attempts, and how long a database may be gone, in milliseconds. */
const [baseMs, capMs, patienceMs] = [200, 10_000, 10 * 60_000] as const;

/** How long a statement waits for its answer, in milliseconds. */
const answerLimitMs = 30_000;

export interface PostgresContext {
  readonly clock: Clock;
  /** A number from 0 up to 1, as Math.random. */
  readonly random: () => number;
}

type Row = Record<string, unknown>;

/** One connection, made again when it breaks. Statements go one after the other. */
export interface PostgresConnection {
  /**
   * The first row of a statement, which is repeated while the database is gone: it may be done more than once.
   * @throws {ExportError} `unavailable` after 10 minutes, `cannotWrite` when the database refuses
   */
  ask(statement: string, values?: readonly unknown[]): Promise<Row>;
  /** Does a statement at most once; resolves to whether it surely was done. @throws {ExportError} `cannotWrite` */
  tryOnce(statement: string, values: readonly unknown[]): Promise<boolean>;
  close(): Promise<void>;
}

/** @throws {ExportError} `usage` when `pg` is not installed, or the address is none or holds a password */
export async function connectPostgres(
  address: string,
  { clock, random }: PostgresContext,
): Promise<PostgresConnection> {
  requireAddress(address);
  const { Pool } = await loadPg();
  const limits = { connectionTimeoutMillis: 10_000, query_timeout: answerLimitMs, idleTimeoutMillis: 0 };
  const pool = new Pool({ connectionString: address, max: 1, keepAlive: true, ...limits });
  // The next statement makes a new connection.
  pool.on('error', () => undefined);

  async function send(statement: string, values: readonly unknown[]): Promise<Row> {
    // A script of several statements has several results.
    const answer: { readonly rows?: readonly Row[] } = await pool.query<Row>(statement, [...values]);
    return answer.rows?.[0] ?? {};
  }

  return {
    ask: async (statement, values = []) => {
      const beganMs = clock.now();
      for (let attempt = 0; ; attempt += 1) {
        try {
          return await send(statement, values);
        } catch (error) {
          if (!isPassing(error)) throw refused(error);
          const waitMs = random() * Math.min(capMs, baseMs * 2 ** attempt);
          if (clock.now() + waitMs - beganMs > patienceMs) throw gone(error);
          await clock.sleep(waitMs);
        }
      }
    },
    tryOnce: async (statement, values) => {
      try {
        await send(statement, values);
        return true;
      } catch (error) {
        if (isPassing(error)) return false;
        throw refused(error);
      }
    },
    close: () => pool.end(),
  };
}

function requireAddress(address: string): void {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  const todo = 'Give postgres://user@host/database. The password comes from PGPASSWORD or PGPASSFILE.';
  if (url === undefined || !/^postgres(ql)?:$/.test(url.protocol)) {
    throw new ExportError('usage', 'the address of the shared database is not a postgres:// address', { todo });
  }
  if (url.password === '' && !url.searchParams.has('password')) return;
  throw new ExportError('usage', 'the address of the shared database holds a password', { todo });
}

async function loadPg(): Promise<Pick<typeof import('pg'), 'Pool'>> {
  try {
    return (await import('pg')).default;
  } catch (error) {
    if (codeOf(error) !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw new ExportError('usage', 'a shared ledger needs the package pg, which is not installed', {
      todo: 'npm install pg',
      cause: error,
    });
  }
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
  return new ExportError('cannotWrite', `the shared database refuses: ${messageOf(error)}`, {
    todo: 'The user needs to log in, and to create the schema asset_export or to use its tables and functions.',
    cause: error,
  });
}

function gone(error: unknown): ExportError {
  return new ExportError('unavailable', `the shared database did not answer for 10 minutes: ${messageOf(error)}`, {
    todo: 'Nothing was sent meanwhile. Run the same command again when it is back.',
    cause: error,
  });
}
