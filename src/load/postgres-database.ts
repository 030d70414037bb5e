import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { csvDialects } from '../lib/csv-dialect.ts';
import { codeOf, ExportError } from '../lib/export-error.ts';
import type { FileStore } from '../store/file-store.ts';
import { doubleQuoted, literal } from '../warehouse/dialect.ts';
import { jsonLines } from '../warehouse/postgres.ts';
import type { Database } from './database.ts';
import type { LoadPlan, LoadTable } from './load-plan.ts';
import { csvOfParquet, plainBytes } from './part-rows.ts';

export interface PostgresOptions {
  readonly plan: LoadPlan;
  readonly files: FileStore;
  readonly folder: string;
}

/** While the server works nothing else goes over the connection: what lies between would drop it, and nobody would know. */
const keepAlive = { keepAlive: true, keepAliveInitialDelayMillis: 60_000 };

/** Connects to PostgreSQL. @throws {ExportError} `usage` when its packages are not installed */
export async function openPostgres(address: string, { plan, files, folder }: PostgresOptions): Promise<Database> {
  const { Client, from } = await packages();
  const client = new Client({ connectionString: address, ...keepAlive });
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
        if (plan.format === 'jsonl') rows += await copyJsonl(source, plainBytes(part));
        else if (plan.format === 'csv') rows += await copy(plainBytes(part), copyCsv(source, nullText(plan)));
        else rows += await copy(csvOfParquet(part, source.table), copyCsv(source, ''));
      }
      return rows;
    },
    close: () => client.end(),
  };

  async function copyJsonl({ table }: LoadTable, lines: AsyncIterable<Uint8Array>): Promise<number> {
    await client.query(jsonLines.create);
    const rows = await copy(lines, `COPY ${jsonLines.table} FROM STDIN WITH (${jsonLines.copyOptions})`);
    await client.query(jsonLines.fill(table));
    return rows;
  }
}

function nullText({ csvDialect }: LoadPlan): string {
  return csvDialects[csvDialect].nullText;
}

function copyCsv({ table }: LoadTable, nullWord: string): string {
  const names = table.columns.map(({ name }) => doubleQuoted(name)).join(', ');
  return `COPY ${doubleQuoted(table.name)} (${names}) FROM STDIN WITH (FORMAT csv, HEADER true, NULL ${literal(nullWord)})`;
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
