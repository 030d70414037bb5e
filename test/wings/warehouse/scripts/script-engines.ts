import { DuckDBInstance } from '@duckdb/node-api';
import { tables } from '../../../../src/core/records/columns.ts';
import { clickhouseOfTests } from '../engines/clickhouse-of-tests.ts';
import { postgresOfTests } from '../postgres-of-tests.ts';

/** A database that scripts run in. */
export interface ScriptEngine {
  readonly isMissing: boolean;
  /** For `load`, of PostgreSQL. */
  readonly address?: string;
  /** Makes it empty. */
  renew(): Promise<void>;
  /** Runs pieces of a script, as a client that stops at the first error. */
  run(pieces: readonly string[]): Promise<void>;
  /** Runs all pieces, as a client that goes on after an error. */
  force(pieces: readonly string[]): Promise<void>;
  /** Rows of a query, a line each. */
  rows(query: string): Promise<string[]>;
}

const createdTables = ['_asset_export_loads', ...tables.map(({ name }) => name)];

export const scriptEngineNames = ['duckdb', 'postgres', 'clickhouse'] as const;

/** The databases that run here. */
export async function scriptEngines(): Promise<Readonly<Record<(typeof scriptEngineNames)[number], ScriptEngine>>> {
  return { duckdb: await duckdbEngine(), postgres: await postgresEngine(), clickhouse: clickhouseEngine() };
}

async function duckdbEngine(): Promise<ScriptEngine> {
  const instance = await DuckDBInstance.create(':memory:', { threads: '1' });
  let connection = await instance.connect();
  const run = async (pieces: readonly string[]): Promise<void> => {
    for (const piece of pieces) await connection.run(piece);
  };
  /** A script that was cut leaves a transaction and temporary tables. */
  const reopen = async (): Promise<void> => {
    connection.closeSync();
    connection = await instance.connect();
  };
  return {
    isMissing: false,
    renew: async () => {
      await reopen();
      for (const table of createdTables)
        await run(['DROP VIEW IF EXISTS nft_metadata', `DROP TABLE IF EXISTS "${table}"`]);
    },
    run: async (pieces) => {
      await reopen();
      await run(pieces);
    },
    force: async (pieces) => {
      await reopen();
      for (const piece of pieces) {
        // As the shell does, one statement after another.
        for (const statement of piece.split(/(?<=;)\n/)) await connection.run(statement).catch(() => undefined);
      }
    },
    rows: async (query) => {
      await reopen();
      return (await connection.runAndReadAll(query)).getRowsJson().map((row) => JSON.stringify(row));
    },
  };
}

async function postgresEngine(): Promise<ScriptEngine> {
  const { isMissing, query, psql, address } = await postgresOfTests(
    'scripts of exports are not run in PostgreSQL',
    'psql',
  );
  return {
    isMissing,
    address,
    renew: async () => {
      await query(`DROP TABLE IF EXISTS ${createdTables.join(', ')} CASCADE;`);
    },
    run: async (pieces) => {
      await psql(pieces.join('\n\n'));
    },
    force: async (pieces) => {
      const script = pieces.join('\n\n').replaceAll('\\set ON_ERROR_STOP on', '');
      await psql(`\\set ON_ERROR_STOP off\n${script}`);
    },
    rows: async (select) =>
      (await query(`SELECT row_to_json(q) FROM (${select}) AS q`)).split('\n').filter((line) => line !== ''),
  };
}

function clickhouseEngine(): ScriptEngine {
  const clickhouse = clickhouseOfTests('scripts of exports are not run in ClickHouse');
  return {
    isMissing: clickhouse.isMissing,
    renew: async () => {
      clickhouse.renew();
    },
    run: async (pieces) => {
      for (const piece of pieces) clickhouse.run(piece);
    },
    force: async (pieces) => {
      for (const piece of pieces) {
        try {
          clickhouse.run(piece);
        } catch {
          // The client goes on.
        }
      }
    },
    rows: async (query) => clickhouse.rows(query).map((row) => JSON.stringify(row)),
  };
}
