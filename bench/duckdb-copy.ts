/**
 * DuckDB's own way from records, one JSON object a line, to Parquet.
 *
 *     node --import ts-blank-space/register bench/duckdb-copy.ts RECORDS-FILE OUTPUT-FILE THREADS
 *
 * Prints how many rows it wrote.
 */
import { DuckDBInstance } from '@duckdb/node-api';
import { ndjsonCopy } from './harness/ndjson-copy.ts';

const [input = '', output = '', threads = '1'] = process.argv.slice(2);
const instance = await DuckDBInstance.create(':memory:', { threads });
const connection = await instance.connect();
const { rowsChanged } = await connection.run(ndjsonCopy(input, output));
connection.closeSync();
instance.closeSync();
process.stdout.write(`${rowsChanged}\n`);
