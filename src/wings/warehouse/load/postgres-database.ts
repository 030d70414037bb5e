import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { blockOf } from '../../../core/records/row-block.ts';
import type { Column, Row } from '../../../core/records/table.ts';
import type { FinishedExport } from '../../../exports/finished-export.ts';
import { csvDialects } from '../../../lib/csv-dialect.ts';
import { loadOptional } from '../../../lib/packages/optional-packages.ts';
import { csvSink } from '../../../core/formats/csv.ts';
import { doubleQuoted, literal } from '../../../lib/sql-text.ts';
import { jsonLinesCopy } from '../postgres.ts';
import type { Database } from './database.ts';
import type { LoadPlan, LoadTable } from './load-plan.ts';

/** While the server works, nothing else is sent: a proxy or firewall would drop the idle connection without notice. */
const keepAlive = { keepAlive: true, keepAliveInitialDelayMillis: 60_000 };

/** Connects to PostgreSQL. @throws {ExportError} `usage` when its packages are not installed */
export async function openPostgres(address: string, plan: LoadPlan, finished: FinishedExport): Promise<Database> {
  const { Client, from } = await packages();
  const client = new Client({ connectionString: address, ...keepAlive });
  await client.connect();
  // The waiting query reports a broken connection.
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
    rows: async (text) => (await client.query<unknown[]>({ text, rowMode: 'array' })).rows,
    hasRows: async ({ name }) => {
      const { rowCount } = await client.query(`SELECT 1 FROM ${doubleQuoted(name)} LIMIT 1`);
      return (rowCount ?? 0) > 0;
    },
    load: async (source) => {
      let rows = 0;
      const { columns } = source.table;
      for (const file of source.files) {
        if (plan.format === 'jsonl') rows += await copyJsonl(source, finished.bytes(file));
        else if (plan.format === 'csv') rows += await copy(finished.bytes(file), copyCsv(source, nullText(plan)));
        else rows += await copy(csvOf(finished.rows(file), columns), copyCsv(source, ''));
      }
      return rows;
    },
    close: () => client.end(),
  };

  async function copyJsonl({ table }: LoadTable, lines: AsyncIterable<Uint8Array>): Promise<number> {
    await client.query(jsonLinesCopy.create);
    const rows = await copy(lines, `COPY ${jsonLinesCopy.table} FROM STDIN WITH (${jsonLinesCopy.copyOptions})`);
    await client.query(jsonLinesCopy.fill(table));
    return rows;
  }
}

/** Rows as CSV for PostgreSQL, with a header. */
async function* csvOf(
  parts: AsyncIterable<readonly Row[]>,
  columns: readonly Column[],
): AsyncGenerator<Uint8Array, void, void> {
  const pieces: Uint8Array[] = [];
  const output = { write: async (bytes: Uint8Array) => void pieces.push(Uint8Array.from(bytes)) };
  const options = { columns, compression: 'none', escapeFormulas: false, csvDialect: 'postgres' } as const;
  const encoder = await csvSink.open(output, options);
  for await (const rows of parts) {
    for (let start = 0; start < rows.length; start += 1000) {
      await encoder.write(blockOf(columns, rows.slice(start, start + 1000)));
      yield* pieces.splice(0);
    }
  }
  await encoder.end();
  yield* pieces.splice(0);
}

function nullText({ csvDialect }: LoadPlan): string {
  return csvDialects[csvDialect].nullText;
}

function copyCsv({ table }: LoadTable, nullWord: string): string {
  const names = table.columns.map(({ name }) => doubleQuoted(name)).join(', ');
  return `COPY ${doubleQuoted(table.name)} (${names}) FROM STDIN WITH (FORMAT csv, HEADER true, NULL ${literal(nullWord)})`;
}

async function packages() {
  const [pg, copyStreams] = await loadOptional({
    what: 'a load into PostgreSQL',
    packages: ['pg', 'pg-copy-streams'],
    load: () => Promise.all([import('pg'), import('pg-copy-streams')]),
    instead: 'Or print the statements with --sql and run them in psql.',
  });
  return { Client: pg.default.Client, from: copyStreams.from };
}
