import { afterAll } from 'vitest';
import { type PostgresServer, startPostgres } from './postgres-server.ts';

/** The server of a test file. */
export interface TestPostgres extends Omit<PostgresServer, 'stop'> {
  /** True where none can be had: what needs it is to be skipped. */
  readonly isMissing: boolean;
}

/**
 * Starts a server for the tests of a file, which ends with them.
 * @param untested what is not tested without one, to be told
 * @param needs what the scripts of the file are for; the packaged server has no psql
 */
export async function postgresOfTests(untested: string, needs?: 'psql'): Promise<TestPostgres> {
  const server = await startPostgres();
  const why =
    typeof server === 'string' ? server : needs === 'psql' && !server.hasPsql ? 'there is no psql' : undefined;
  if (typeof server !== 'string') afterAll(() => server.stop());
  if (why === undefined && typeof server !== 'string') return { isMissing: false, ...server };
  console.warn(`${untested}: ${why ?? ''}`);
  const fail = (): Promise<never> => Promise.reject(new Error(why));
  return {
    isMissing: true,
    address: 'postgres://nowhere.invalid',
    hasPsql: false,
    query: fail,
    psql: fail,
    crash: fail,
    restart: fail,
  };
}
