import type { FinishedExport } from '../../../exports/finished-export.ts';
import { ExportError } from '../../../lib/export-error.ts';
import { commandLine } from '../../../lib/addresses/shown-text.ts';
import { type Column, isIdColumn, type Table, wholeName } from '../../../core/records/table.ts';
import { unexportedTable } from '../../../core/records/id-tables.ts';
import { contentSeal } from '../../../places/export/manifest.ts';
import { nameOfExport } from '../../../places/export/export-folder.ts';
import { doubleQuoted } from '../../../lib/sql-text.ts';
import { type Source, type TableFormat, tableFunctionOf } from '../../../exports/duckdb-files.ts';

/** One of the two exports that are compared. */
export interface DiffSide {
  readonly finished: FinishedExport;
  readonly name: string;
  readonly seal: string;
  /** Both hold every value exactly; JSONL does not, as DuckDB reads it. */
  readonly format: TableFormat;
  /** Longest row of CSV that is read, in bytes: DuckDB's buffers are 16 times as large. */
  readonly longestRow: number;
}

/** The older and the newer export. */
export interface DiffSides {
  readonly a: DiffSide;
  readonly b: DiffSide;
}

const usualRowBytes = 2 << 20;

/** @throws {ExportError} `usage` for an export that DuckDB cannot compare */
export function diffSide(finished: FinishedExport): DiffSide {
  const { folder, manifest } = finished;
  if (manifest.kind === 'diff') {
    throw new ExportError('usage', `${folder} is a diff, not an export`, {
      todo: 'Name the exports that it compares.',
    });
  }
  const held = new Set(finished.filesOf('assets').map((file) => file.format));
  const columns = finished.tables.get('assets')?.columns ?? [];
  const format = (['parquet', 'csv'] as const).find((each) => held.has(each));
  if (format === undefined || !columns.some(isIdColumn)) {
    const why = format === undefined ? 'the table assets as Parquet or exact CSV' : 'the column id of assets';
    throw new ExportError('usage', `${folder} does not have ${why}, which diff needs`, {
      todo: `Rewrite it for no credits, and compare that: ${commandLine('rebuild', folder, '--out', `${folder}-parquet`, '--format', 'parquet')}`,
    });
  }
  return { finished, name: nameOfExport(folder), seal: contentSeal(manifest), format, longestRow: usualRowBytes };
}

/** A table of a side in a query; undefined when the side does not hold it in its format. */
export function readerIn({ finished, format, longestRow }: DiffSide, name: string): string | undefined {
  const files = finished.filesOf(name).filter((file) => file.format === format);
  const table = finished.tables.get(name);
  if (table === undefined || files.length === 0) return undefined;
  const paths = files.map(({ path }) => path);
  return tableFunctionOf(sourceOf(finished, table, format, paths), longestRow);
}

/** The ids that were not exported, in a query. */
export function unexportedIn({ finished }: DiffSide): string {
  const paths = finished.filesOf(unexportedTable.name).map(({ path }) => path);
  const source = sourceOf(finished, unexportedTable, 'csv', paths);
  return tableFunctionOf({ ...source, csvDialect: 'rfc4180' }, usualRowBytes);
}

function sourceOf(finished: FinishedExport, table: Table, format: TableFormat, paths: readonly string[]): Source {
  const { folder, csvDialect } = finished;
  return { table, format, folder, csvDialect, files: paths };
}

/** The columns of a table by their names in the column table. */
export function columnsIn({ finished }: DiffSide, table: string): Map<string, Column> {
  return new Map((finished.tables.get(table)?.columns ?? []).map((column) => [wholeName(column), column]));
}

/** A column's value as queries hand it over: text, number, bigint, boolean. Decimals are text, times are microseconds. */
export function valueSql({ name, type }: Column, from = ''): string {
  const column = `${from}${doubleQuoted(name)}`;
  if (type === 'decimal') return `CAST(${column} AS VARCHAR)`;
  return type === 'timestamp' ? `epoch_us(${column})` : column;
}
