import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { it } from 'vitest';
import type { LoadRequest } from '../../../src/wings/load/load-export.ts';
import { type LoadTarget, parseTarget } from '../../../src/wings/load/load-target.ts';
import { sampled } from '../../model/support/sample.ts';
import { runsAll } from '../../support/lane.ts';
import { tempFolder } from '../../support/temp-folder.ts';
import type { TestPostgres } from '../warehouse/postgres-of-tests.ts';

export interface OpenedDatabase {
  readonly target: LoadTarget;
  /** What `--to` takes. */
  readonly address: string;
  /** Runs statements; gives back the rows of the last one as text, cells joined by a bar. */
  readonly rows: (sql: string) => Promise<string[]>;
}

const [sampledEngine] = sampled(['duckdb', 'postgres'] as const, 2);

/**
 * What the engines share is tested in one of them by `npm test`, and in both by `npm run test:all`. Unless an engine is given, it is
 * another one after each commit. @param test of the engine `kind`
 */
export function inOneEngine(kind: LoadRequest['kind'], test: typeof it.skip) {
  return (engine = sampledEngine) => (runsAll || kind === engine ? test : it.skip);
}

/** An empty database of each kind: a file of its own, or the public schema of the server of the tests. */
export function emptyDatabases({ query, address }: Pick<TestPostgres, 'query' | 'address'>) {
  return async (kind: LoadRequest['kind']): Promise<OpenedDatabase> => {
    if (kind === 'postgres') {
      await query('DROP SCHEMA public CASCADE; CREATE SCHEMA public;');
      const rows = async (sql: string) => (await query(sql)).split('\n').filter((line) => line !== '');
      return { target: parseTarget(address, '/'), address, rows };
    }
    const file = join(await tempFolder(), 'a.duckdb');
    return {
      target: parseTarget(`duckdb:${file}`, '/'),
      address: `duckdb:${file}`,
      rows: (sql) => inDuckdb(file, sql),
    };
  };
}

export async function inDuckdb(file: string, sql: string): Promise<string[]> {
  const instance = await DuckDBInstance.create(file);
  const connection = await instance.connect();
  try {
    const found = (await connection.runAndReadAll(sql)).getRowsJson();
    return found.map((row) =>
      row.map((cell) => (cell === null ? '' : typeof cell === 'string' ? cell : JSON.stringify(cell))).join('|'),
    );
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
}
