import { afterAll } from 'vitest';
import { enginePackage } from './engine-packages.ts';

interface Chdb {
  readonly Session: new () => { query(sql: string, format?: string): string; cleanup(): void };
}

/** ClickHouse in this process. */
export interface TestClickhouse {
  /** True where it is not installed: what needs it is to be skipped. */
  readonly isMissing: boolean;
  /** Runs a script, stopping at the first error. */
  run(script: string): void;
  /** The rows of a query. Integers of 64 bits and decimals are text. */
  rows(query: string): unknown[][];
  /** Makes an empty database the current one. */
  renew(): void;
}

/**
 * Starts ClickHouse for the tests of a file.
 * @param untested what is not tested without it
 */
export function clickhouseOfTests(untested: string): TestClickhouse {
  const chdb = enginePackage('chdb', untested) as Chdb | undefined;
  if (chdb === undefined) {
    const fail = (): never => {
      throw new Error('npm run engines');
    };
    return { isMissing: true, run: fail, rows: fail, renew: fail };
  }
  const session = new chdb.Session();
  afterAll(() => {
    session.cleanup();
  });
  const exact = 'SETTINGS output_format_json_quote_64bit_integers = 1, output_format_json_quote_decimals = 1';
  return {
    isMissing: false,
    run: (script) => void session.query(script),
    rows: (query) =>
      session
        .query(`${query} ${exact}`, 'JSONCompactEachRow')
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as unknown[]),
    renew: () => void session.query('DROP DATABASE IF EXISTS tests; CREATE DATABASE tests; USE tests;'),
  };
}
