/**
 * DuckDB's own way from records, one JSON object a line, to a format: it infers the columns, and nests what is nested.
 *
 *     node --import ts-blank-space/register bench/duckdb-copy.ts RECORDS-FILE OUTPUT-FILE FORMAT
 *
 * Prints how many rows it wrote.
 */
import { DuckDBInstance } from '@duckdb/node-api';

const [input = '', output = '', format = 'parquet'] = process.argv.slice(2);
const instance = await DuckDBInstance.create(':memory:', { threads: '1' });
const connection = await instance.connect();
const { rowsChanged } = await connection.run(
  `COPY (SELECT * FROM read_ndjson('${input}')) TO '${output}' (FORMAT ${format}${format === 'parquet' ? ', COMPRESSION zstd' : ''})`,
);
connection.closeSync();
instance.closeSync();
process.stdout.write(`${rowsChanged}\n`);
