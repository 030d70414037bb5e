import type { DuckDBValue } from '@duckdb/node-api';
import { loadDuckdb } from '../../../lib/packages/optional-packages.ts';

/** A value of a result: texts, numbers, and bigints for 64-bit integers. */
export type DiffValue = string | number | bigint | boolean | null;

/** A DuckDB database of its own, in a folder that its owner removes. */
export interface DiffSession {
  run(sql: string): Promise<void>;
  /** The rows of a query, some at a time, while they are made. */
  rows(sql: string): AsyncGenerator<DiffValue[][], void, void>;
  /** Fills a table of one text column. `end` makes the rows visible. */
  append(table: string): Promise<{ add(text: string): void; end(): void }>;
  close(): void;
}

/** What DuckDB takes beyond its limit, and this program beside it, as a share of `--memory`. */
const duckdbShare = 0.6;

/** @throws {ExportError} `usage` when DuckDB is not installed */
export async function openDiffSession(scratch: string, memoryBytes: number): Promise<DiffSession> {
  const duckdb = await loadDuckdb('a comparison of exports');
  const instance = await duckdb.DuckDBInstance.create(`${scratch}/diff.duckdb`, {
    memory_limit: `${Math.floor((memoryBytes * duckdbShare) / 1e6)}MB`,
    temp_directory: `${scratch}/spilled`,
    autoinstall_known_extensions: 'false',
  });
  const connection = await instance.connect();
  const second = await instance.connect();
  return {
    run: async (sql) => {
      await connection.run(sql);
    },
    rows: async function* (sql) {
      const result = await connection.stream(sql);
      for await (const rows of result.yieldRows()) yield rows.map((row) => row.map(valueOf));
    },
    append: async (table) => {
      const appender = await second.createAppender(table);
      return {
        add: (text) => {
          appender.appendVarchar(text);
          appender.endRow();
        },
        end: () => {
          appender.closeSync();
        },
      };
    },
    close: () => {
      connection.closeSync();
      second.closeSync();
      instance.closeSync();
    },
  };
}

/** Queries give no other types: all else is cast in their SQL. */
function valueOf(value: DuckDBValue): DiffValue {
  if (value === null || typeof value !== 'object') return value ?? null;
  throw new Error(`a query of diff gave a ${value.constructor.name}`);
}
