import { tableByName } from '../assets/columns.ts';
import { exportedAt } from '../assets/shape-table.ts';
import type { Column, ColumnType, Table } from '../assets/table.ts';
import { type CsvDialectName, csvDialectNamed } from '../lib/csv-dialect.ts';
import { ExportError } from '../lib/export-error.ts';
import type { Manifest } from '../store/manifest.ts';
import type { TableFormat } from '../warehouse/dialect.ts';

/** A table of a finished export, and the files to load it from. */
export interface LoadTable {
  readonly table: Table;
  /** Relative to the export, in the order of the parts. */
  readonly files: readonly string[];
  readonly rows: number;
}

export interface LoadPlan {
  readonly format: TableFormat;
  readonly csvDialect: CsvDialectName;
  readonly tables: readonly LoadTable[];
}

/** Who reads the files: a database, or psql by a script. */
export type FileReader = 'duckdb' | 'postgres' | 'psql';

/** What each reads best; PostgreSQL takes CSV as it is, and Parquet through this program. */
const preferred: Readonly<Record<FileReader, readonly TableFormat[]>> = {
  duckdb: ['parquet', 'csv', 'jsonl'],
  postgres: ['csv', 'parquet', 'jsonl'],
  psql: ['csv', 'jsonl'],
};

/**
 * Chooses the files to load from.
 * @throws {ExportError} `usage` when the export holds none that say what the service said, or none that the reader reads
 */
export function planLoad(manifest: Manifest, reader: FileReader): LoadPlan {
  const escaped = manifest.job['csv.formulas'] === 'escape';
  const isHeld = (format: TableFormat): boolean =>
    !(format === 'csv' && escaped) && manifest.files.some((file) => file.format === format && isTable(file.table));
  const format = preferred[reader].find(isHeld);
  if (format === undefined && isHeld('parquet')) {
    throw new ExportError('usage', 'psql reads no Parquet, and this export holds no other tables that can be loaded', {
      todo: 'Load it without --sql, or export again with --format csv or jsonl.',
    });
  }
  if (format === undefined) {
    throw new ExportError('usage', 'this export holds no tables that can be loaded', {
      todo: `Export again with --format ${preferred[reader].join(' or ')}${escaped ? '; CSV with csv.formulas: escape is not what the service said' : ''}.`,
    });
  }
  return {
    format,
    csvDialect: csvDialectNamed(manifest.job['csv.dialect']),
    tables: Object.entries(manifest.tables).map(([name, { rows, columns }]) => ({
      table: tableOf(name, columns, format),
      files: manifest.files
        .filter((file) => file.table === name && file.format === format)
        .sort((a, b) => a.part - b.part)
        .map(({ path }) => path),
      rows,
    })),
  };
}

function isTable(name: string): boolean {
  return tableByName(name) !== undefined;
}

type ManifestColumn = Manifest['tables'][string]['columns'][number];

/** The table as its files have it: what the manifest does not say of a column, the column table does. */
function tableOf(name: string, columns: readonly ManifestColumn[], format: TableFormat): Table {
  const whole = tableByName(name);
  return {
    name,
    ...(whole?.list === undefined ? {} : { list: whole.list }),
    columns: columns.map((column): Column => {
      const known = [...(whole?.columns ?? []), exportedAt].find((each) => each.name === (column.from ?? column.name));
      const list = format === 'parquet' && column.list !== undefined ? tableByName(column.list) : undefined;
      return {
        name: column.name,
        type: column.type as ColumnType,
        nullable: column.nullable,
        path: known?.path ?? [],
        about: known?.about ?? '',
        ...(column.from === undefined ? {} : { from: column.from }),
        ...(list === undefined ? {} : { elements: list.columns.slice(2), list: list.name }),
      };
    }),
  };
}
