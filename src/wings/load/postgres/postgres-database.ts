import { jsonLinesCopy, type LoadPlan, type LoadTable } from '../../warehouse/index.ts';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { changesTable } from '../../../core/records/columns.ts';
import type { Client } from 'pg';
import { blockOf } from '../../../core/records/row-block.ts';
import type { Column, Row } from '../../../core/records/table.ts';
import { csvDialects } from '../../../core/formats/sink.ts';
import type { ManifestFile } from '../../../exports/finished-export.ts';
import { loadOptional } from '../../../lib/packages/optional-packages.ts';
import { csvSink } from '../../../core/formats/csv.ts';
import { doubleQuoted, literal } from '../../../lib/sql-text.ts';
import type { Database } from '../database.ts';
import type { LoadedExport } from '../loaded-export.ts';
import { holdsAny, NulCleaner, type NulRule } from '../nul/nul-values.ts';
import type { Clock } from '../../../lib/clock.ts';
import { messageOf } from '../../../lib/export-error.ts';
import { firstContactMs } from '../../../lib/network.ts';
import { duration } from '../../../lib/format-text.ts';
import { isSilent, isUnreachable } from '../load-errors.ts';

/** While the server works, nothing else is sent: a proxy or firewall would drop the idle connection without notice. */
const keepAlive = { keepAlive: true, keepAliveInitialDelayMillis: 60_000 };

/** How long a server is tried that answers that it takes no connection now, and the waits between tries, in milliseconds. */
const [busyMs, firstWaitMs, longestWaitMs] = [60_000, 500, 5000] as const;

/** How long one try may take, in milliseconds. */
const connectLimitMs = 20_000;

interface ConnectContext {
  readonly clock: Clock;
  readonly note: (text: string) => void;
}

/** Connects, and tries again while the server cannot be reached, up to a minute. @throws the last error of the driver */
export async function connectPatiently(
  ClientOf: typeof Client,
  address: string,
  { clock, note }: ConnectContext,
): Promise<Client> {
  const sinceMs = clock.monotonic();
  for (let waitMs: number = firstWaitMs; ; waitMs = Math.min(waitMs * 2, longestWaitMs)) {
    const client = new ClientOf({ connectionString: address, connectionTimeoutMillis: connectLimitMs, ...keepAlive });
    // The waiting query reports a broken connection.
    client.on('error', () => undefined);
    try {
      await client.connect();
      return client;
    } catch (error) {
      await client.end().catch(() => undefined);
      const patienceMs = isSilent(error) ? firstContactMs : busyMs;
      if (!isUnreachable(error) || clock.monotonic() - sinceMs + waitMs > patienceMs) throw error;
      if (waitMs === firstWaitMs)
        note(`the database does not answer (${messageOf(error)}): trying for up to ${duration(patienceMs)}`);
      await clock.sleep(waitMs);
    }
  }
}

/** Connects to PostgreSQL. Its warnings become notes. @throws {ExportError} `usage` when its packages are not installed */
export async function openPostgres(
  address: string,
  loaded: LoadedExport | undefined,
  context: ConnectContext,
  rule: NulRule = 'fail',
): Promise<Database> {
  const { Client, from } = await packages();
  const client = await connectPatiently(Client, address, context);
  client.on('notice', ({ severity, message }) => {
    if (severity === 'WARNING' && message !== undefined) context.note(message);
  });
  const copy: CopyIn = async (bytes, statement) => {
    const stream = client.query(from(statement));
    await pipeline(Readable.from(bytes, { objectMode: false }), stream);
    return stream.rowCount;
  };
  return databaseOn(client, copy, loaded, rule);
}

/** Sends bytes to a COPY statement, and gives back the number of its rows. */
type CopyIn = (bytes: AsyncIterable<Uint8Array>, statement: string) => Promise<number>;

function databaseOn(client: Client, copy: CopyIn, loaded: LoadedExport | undefined, rule: NulRule): Database {
  const nulValues = new Map<string, NulCleaner['counts']>();
  const run = async (sql: string): Promise<number> => {
    // Several statements have a result each.
    const results = [await client.query(sql)].flat();
    return results.reduce((rows, { rowCount }) => rows + (rowCount ?? 0), 0);
  };
  const rowsOf = async (text: string): Promise<unknown[][]> =>
    (await client.query<unknown[]>({ text, rowMode: 'array' })).rows;
  /** Columns of type jsonb, which takes no escape of NUL. */
  const jsonbOf = async (table: string): Promise<ReadonlySet<string>> => {
    const of = `attrelid = to_regclass(${literal(doubleQuoted(table))}) AND atttypid = 'jsonb'::regtype`;
    const rows = await rowsOf(`SELECT attname::text FROM pg_attribute WHERE ${of}`);
    return new Set(rows.map(([name]) => String(name)));
  };
  const loadFile = fileLoader(run, copy, loaded);
  return {
    kind: 'postgres',
    nulValues,
    run,
    rows: rowsOf,
    pages: async function* (sql) {
      await run(`DECLARE asset_export_rows NO SCROLL CURSOR FOR ${sql}`);
      for (;;) {
        const rows = await rowsOf('FETCH 1000 FROM asset_export_rows');
        if (rows.length === 0) break;
        yield rows;
      }
      await run('CLOSE asset_export_rows');
    },
    hasRows: async ({ name }) => (await run(`SELECT 1 FROM ${doubleQuoted(name)} LIMIT 1`)) > 0,
    load: async (source) => {
      const { name, columns } = source.table;
      const cleaner = rule === 'fail' ? undefined : new NulCleaner(columns, await jsonbOf(name), rule);
      let rows = 0;
      for (const file of source.files) rows += await loadFile(source, file, cleaner);
      if (cleaner !== undefined)
        nulValues.set(source.name === changesTable.name ? 'assets' : source.name, cleaner.counts);
      return rows;
    },
    close: () => client.end(),
  };
}

function fileLoader(run: Database['run'], copy: CopyIn, loaded: LoadedExport | undefined) {
  return async (source: LoadTable, file: ManifestFile, cleaner: NulCleaner | undefined): Promise<number> => {
    if (loaded === undefined) throw new Error('nothing to load');
    const { finished, plan } = loaded;
    const { columns } = source.table;
    if (plan.format === 'parquet' || (cleaner !== undefined && (await holdsAny(finished.bytes(file), nulSequences)))) {
      const rows = finished.rows(file, columns);
      return copy(csvOf(cleaner?.rows(rows) ?? rows, columns), copyCsv(source, ''));
    }
    if (plan.format === 'csv') return copy(finished.bytes(file), copyCsv(source, nullText(plan)));
    await run(jsonLinesCopy.create);
    const lines = `COPY ${jsonLinesCopy.table} FROM STDIN WITH (${jsonLinesCopy.copyOptions})`;
    await copy(finished.bytes(file), lines);
    return run(jsonLinesCopy.fill(source.table));
  };
}

/** How a file shows NUL characters: as bytes, or as escapes of JSON. */
const nulSequences = ['\0', String.raw`\u0000`];

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
    instead: 'Or print a script for psql: asset-export schema --of EXPORT --for postgres.',
  });
  return { Client: pg.default.Client, from: copyStreams.from };
}
