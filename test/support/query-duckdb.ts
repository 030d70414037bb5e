import { DuckDBInstance, type DuckDBValue } from '@duckdb/node-api';

/** The rows of a query in a database of its own, in order. Files are named in the text: see `sqlText`. */
export async function queryDuckdb(sql: string): Promise<DuckDBValue[][]> {
  const instance = await DuckDBInstance.create(':memory:', { threads: '1' });
  try {
    const connection = await instance.connect();
    try {
      return (await connection.runAndReadAll(sql)).getRows();
    } finally {
      connection.closeSync();
    }
  } finally {
    instance.closeSync();
  }
}

/** A string as a literal of SQL. */
export function sqlText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** A name as an identifier of SQL. */
export function sqlName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
