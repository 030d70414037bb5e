import type { DuckDBAppender, DuckDBConnection, DuckDBValue } from '@duckdb/node-api';
import { type RowBlock, textOfCell } from '../../../core/records/row-block.ts';
import { assetsTable } from '../../../core/records/columns.ts';
import type { Column } from '../../../core/records/table.ts';
import { nearestName } from '../../../lib/nearest-name.ts';
import { loadDuckdb } from '../../../lib/packages/load-duckdb.ts';
import { ExportError } from '../../../lib/export-error.ts';

/** How the assets of the new export are sorted. */
export interface SortOrder {
  /** Names of columns of `assets` in the column table, the last of them `id`. */
  readonly columns: readonly string[];
  /** About how much memory DuckDB and this program may take. */
  readonly memoryBytes: number;
  /** Threads of DuckDB; as many as the machine has processors unless given. No byte depends on it. */
  readonly threads?: number;
}

/** A record, and when it was requested in microseconds since 1970. */
export interface TimedRecord {
  readonly record: Buffer;
  readonly timeUs: number;
}

/** The columns of a sort order: those named, then `id`, which no two assets share. @throws {ExportError} `usage` */
export function sortColumns(names: readonly string[]): string[] {
  const known = assetsTable.columns.map(({ name }) => name);
  for (const [index, name] of names.entries()) {
    const near = nearestName(name, known);
    if (!known.includes(name))
      throw new ExportError('usage', `--sort: ${name} is not a column of assets`, {
        todo: near === undefined ? 'See asset-export schema.' : `Did you mean ${near}?`,
      });
    if (names.indexOf(name) !== index)
      throw new ExportError('usage', `--sort names ${name} twice`, { todo: 'Name each column once.' });
  }
  const last = names.indexOf('id');
  return [...(last < 0 ? names : names.slice(0, last)), 'id'];
}

/** What DuckDB takes beyond its limit, and this program beside it, as a share of `memoryBytes`. */
const duckdbShare = 0.6;

/** Sorts records on the disk. Their number is limited by the disk alone. */
export class SortedRecords {
  readonly #keys: readonly { readonly column: Column; readonly place: number }[];
  readonly #connection: DuckDBConnection;
  readonly #close: () => void;
  #appender: DuckDBAppender | undefined;
  #sorted: AsyncGenerator<TimedRecord, void, void> | undefined;

  private constructor(order: SortOrder, connection: DuckDBConnection, close: () => void) {
    this.#keys = order.columns.flatMap((name) => {
      const place = assetsTable.columns.findIndex((column) => column.name === name);
      const column = assetsTable.columns[place];
      return column === undefined ? [] : [{ column, place }];
    });
    this.#connection = connection;
    this.#close = close;
  }

  /** @param folder an empty folder, for what memory does not hold @throws {ExportError} `usage` without DuckDB */
  static async open(order: SortOrder, folder: string): Promise<SortedRecords> {
    const duckdb = await loadDuckdb('rebuild --sort');
    const instance = await duckdb.DuckDBInstance.create(`${folder}/sort.duckdb`, {
      memory_limit: `${Math.floor((order.memoryBytes * duckdbShare) / 1e6)}MB`,
      temp_directory: `${folder}/spilled`,
      autoinstall_known_extensions: 'false',
      ...(order.threads === undefined ? {} : { threads: String(order.threads) }),
    });
    const connection = await instance.connect();
    const opened = new SortedRecords(order, connection, () => {
      connection.closeSync();
      instance.closeSync();
    });
    // The order of records that are not sorted yet says nothing.
    await connection.run('SET preserve_insertion_order = false');
    const columns = opened.#keys.map(({ column }, at) => `k${at} ${keyType(column)}`);
    await connection.run(`CREATE TABLE records (${[...columns, 'requested BIGINT', 'record BLOB'].join(', ')})`);
    opened.#appender = await connection.createAppender('records');
    return opened;
  }

  /** Adds records. @param whole their rows of `assets` as the column table has them, in the same order */
  add(records: readonly TimedRecord[], whole: RowBlock): void {
    const appender = this.#appender;
    if (appender === undefined) throw new Error('the records are sorted already');
    for (const [row, { record, timeUs }] of records.entries()) {
      for (const { column, place } of this.#keys)
        appendKey(appender, column, textOfCell(whole, row * whole.width + place));
      appender.appendBigInt(BigInt(timeUs));
      appender.appendBlob(record);
      appender.endRow();
    }
  }

  /** The next records in the order, at most so many; fewer only at the end. Nothing can be added any more. */
  async take(most: number): Promise<TimedRecord[]> {
    this.#appender?.closeSync();
    this.#appender = undefined;
    this.#sorted ??= this.#inOrder();
    const taken: TimedRecord[] = [];
    while (taken.length < most) {
      const next = await this.#sorted.next();
      if (next.done === true) break;
      taken.push(next.value);
    }
    return taken;
  }

  close(): void {
    this.#appender?.closeSync();
    this.#close();
  }

  async *#inOrder(): AsyncGenerator<TimedRecord, void, void> {
    const order = this.#keys.map((_, at) => `k${at} ASC NULLS LAST`).join(', ');
    const result = await this.#connection.stream(`SELECT record, requested FROM records ORDER BY ${order}`);
    for await (const rows of result.yieldRows())
      for (const [record, requested] of rows) yield { record: bytesOf(record), timeUs: Number(requested) };
  }
}

/** Texts are compared as their bytes. */
function keyType({ type }: Column): string {
  switch (type) {
    case 'string':
    case 'json':
      return 'BLOB';
    case 'boolean':
      return 'BOOLEAN';
    case 'double':
      return 'DOUBLE';
    case 'int64':
    case 'decimal':
    case 'timestamp':
      return 'HUGEINT';
  }
}

function appendKey(appender: DuckDBAppender, { type }: Column, text: string | null): void {
  if (text === null) appender.appendNull();
  else if (type === 'string' || type === 'json') appender.appendBlob(Buffer.from(text));
  else if (type === 'boolean') appender.appendBoolean(text === 'true');
  else if (type === 'double') appender.appendDouble(Number(text));
  else appender.appendHugeInt(BigInt(text));
}

function bytesOf(value: DuckDBValue | undefined): Buffer {
  if (typeof value !== 'object' || value === null || !('bytes' in value)) throw new Error('a record is no blob');
  const { buffer, byteOffset, byteLength } = value.bytes;
  return Buffer.from(buffer, byteOffset, byteLength);
}
