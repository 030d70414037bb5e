import { afterAll } from 'vitest';
import { type PostgresServer, startPostgres } from './postgres-server.ts';

/** The server of a test file. */
export interface TestPostgres extends Omit<PostgresServer, 'stop'> {
  /** True where none can be had: what needs it is to be skipped. */
  readonly isMissing: boolean;
}

/** Starts a server for the tests of a file, which ends with them. @param untested what is not tested without one, to be told */
export async function postgresOfTests(untested: string): Promise<TestPostgres> {
  const server = await startPostgres();
  if (typeof server === 'string') {
    console.warn(`${untested}: ${server}`);
    const fail = (): Promise<never> => Promise.reject(new Error(server));
    return { isMissing: true, address: 'postgres://nowhere.invalid', psql: fail, crash: fail, restart: fail };
  }
  afterAll(() => server.stop());
  return { isMissing: false, ...server };
}
