import { sourceOf } from '../../warehouse/index.ts';
import type { DuckDBConnection } from '@duckdb/node-api';
import { longestRowBytes, tableFunctionOf } from '../../../exports/duckdb-files.ts';
import { loadDuckdb } from '../../../lib/packages/optional-packages.ts';
import { doubleQuoted } from '../../../lib/sql-text.ts';
import type { Database } from '../database.ts';
import type { LoadedExport } from '../loaded-export.ts';

/**
 * Opens DuckDB with a limit of memory; what does not fit goes to a folder beside the file.
 * @param opened the file that it opens, or `:memory:` @param file the file of the load
 * @throws {ExportError} `usage` when DuckDB is not installed
 */
export async function connectDuckdb(opened: string, file: string, memoryBytes: number) {
  const { DuckDBInstance } = await loadDuckdb(
    'a load into DuckDB',
    'Or print a script for its shell: asset-export schema --of EXPORT --for duckdb.',
  );
  const instance = await DuckDBInstance.create(opened, {
    memory_limit: `${Math.floor(memoryBytes / 1e6)}MB`,
    temp_directory: `${file}.tmp`,
    preserve_insertion_order: 'false',
  });
  const connection = await instance.connect();
  const close = async (): Promise<void> => {
    connection.closeSync();
    instance.closeSync();
  };
  return { connection, close };
}

/** Opens a DuckDB file, and makes it where it is absent. @throws {ExportError} `usage` when DuckDB is not installed */
export async function openDuckdb(
  file: string,
  loaded: LoadedExport | undefined,
  memoryBytes: number,
): Promise<Database> {
  const { connection, close } = await connectDuckdb(file, file, memoryBytes);
  return { ...databaseOn(connection, loaded), close };
}

export function databaseOn(connection: DuckDBConnection, loaded: LoadedExport | undefined): Omit<Database, 'close'> {
  return {
    kind: 'duckdb',
    run: async (sql) => (await connection.run(sql)).rowsChanged,
    rows: async (sql) => (await connection.runAndReadAll(sql)).getRows(),
    pages: async function* (sql) {
      yield* (await connection.stream(sql)).yieldRows();
    },
    hasRows: async ({ name }) => {
      const found = await connection.runAndReadAll(`SELECT 1 FROM ${doubleQuoted(name)} LIMIT 1`);
      return found.currentRowCount > 0;
    },
    load: async (source) => {
      if (loaded === undefined) throw new Error('nothing to load');
      const { plan, finished } = loaded;
      const rows = tableFunctionOf(sourceOf(source, plan, finished.folder), longestRowBytes, longestRowBytes);
      return (await connection.run(`INSERT INTO ${doubleQuoted(source.table.name)} BY NAME SELECT * FROM ${rows}`))
        .rowsChanged;
    },
  };
}
