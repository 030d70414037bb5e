import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { csvDialects } from '../lib/csv-dialect.ts';
import { codeOf, ExportError } from '../lib/export-error.ts';
import type { FileStore } from '../store/file-store.ts';
import { doubleQuoted, literal } from '../warehouse/dialect.ts';
import type { Database } from './database.ts';
import type { LoadPlan, LoadTable } from './load-plan.ts';
import { csvOfParquet, plainBytes } from './part-rows.ts';

export interface PostgresOptions {
  readonly plan: LoadPlan;
  readonly files: FileStore;
  readonly folder: string;
}

/** Connects to PostgreSQL. @throws {ExportError} `usage` when its packages are not installed */
export async function openPostgres(address: string, { plan, files, folder }: PostgresOptions): Promise<Database> {
  const { Client, from } = await packages();
  const client = new Client({ connectionString: address });
  await client.connect();
  // The error of a connection that breaks is told by the query that waits on it.
  client.on('error', () => undefined);

  async function copy(bytes: AsyncIterable<Uint8Array>, statement: string): Promise<number> {
    const stream = client.query(from(statement));
    await pipeline(Readable.from(bytes, { objectMode: false }), stream);
    return stream.rowCount;
  }

  return {
    run: async (sql) => {
      await client.query(sql);
    },
    load: async (source) => {
      let rows = 0;
      for (const path of source.files) {
        const part = { files, folder, path };
        if (plan.format === 'jsonl') rows += await copyJsonl(source, (sql) => copy(plainBytes(part), sql));
        else if (plan.format === 'csv') rows += await copy(plainBytes(part), copyCsv(source, nullText(plan)));
        else rows += await copy(csvOfParquet(part, source.table), copyCsv(source, ''));
      }
      return rows;
    },
    close: () => client.end(),
  };

  /** Json columns are values in JSONL: the server takes them out. No JSON text holds the bytes 1 and 2. */
  async function copyJsonl({ table }: LoadTable, copyLines: (sql: string) => Promise<number>): Promise<number> {
    const [name, lines] = [doubleQuoted(table.name), 'asset_export_lines'];
    await client.query(`CREATE TEMPORARY TABLE ${lines} (line json)`);
    const rows = await copyLines(`COPY ${lines} FROM STDIN WITH (FORMAT csv, DELIMITER E'\\x01', QUOTE E'\\x02')`);
    // A column of the table may be called line, too.
    const values = table.columns.map((column) => `filled.${doubleQuoted(column.name)}`).join(', ');
    await client.query(
      `INSERT INTO ${name} (${columnNames(table)}) SELECT ${values} FROM ${lines}, json_populate_record(NULL::${name}, line) AS filled`,
    );
    await client.query(`DROP TABLE ${lines}`);
    return rows;
  }
}

function nullText({ csvDialect }: LoadPlan): string {
  return csvDialects[csvDialect].nullText;
}

function copyCsv({ table }: LoadTable, nullWord: string): string {
  return `COPY ${doubleQuoted(table.name)} (${columnNames(table)}) FROM STDIN WITH (FORMAT csv, HEADER true, NULL ${literal(nullWord)})`;
}

function columnNames({ columns }: LoadTable['table']): string {
  return columns.map(({ name }) => doubleQuoted(name)).join(', ');
}

interface Packages {
  readonly Client: typeof import('pg').Client;
  readonly from: typeof import('pg-copy-streams').from;
}

async function packages(): Promise<Packages> {
  try {
    const [pg, copyStreams] = await Promise.all([import('pg'), import('pg-copy-streams')]);
    return { Client: pg.default.Client, from: copyStreams.from };
  } catch (error) {
    if (codeOf(error) !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw new ExportError(
      'usage',
      'loading into PostgreSQL needs the packages pg and pg-copy-streams, which are not installed',
      {
        todo: 'npm install pg pg-copy-streams, or print the statements with --sql and run them in psql.',
        cause: error,
      },
    );
  }
}
