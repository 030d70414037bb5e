import { changesTable } from '../../core/records/columns.ts';
import type { Table } from '../../core/records/table.ts';
import type { FinishedExport, ManifestFile } from '../../exports/finished-export.ts';
import type { CsvDialectName } from '../../core/formats/sink.ts';
import { ExportError } from '../../lib/export-error.ts';
import { contentSeal } from '../../places/export/manifest.ts';
import type { Source, TableFormat } from '../../exports/duckdb-files.ts';

/** A table of a finished export, and the files to load it from. */
export interface LoadTable {
  /** Its name in the export. */
  readonly name: string;
  /** As the database is to hold it. */
  readonly table: Table;
  /** In the order of the parts. */
  readonly files: readonly ManifestFile[];
  readonly rows: number;
}

export interface LoadPlan {
  readonly format: TableFormat;
  readonly csvDialect: CsvDialectName;
  readonly tables: readonly LoadTable[];
  /** Names what the export holds. */
  readonly seal: string;
  /** Put before the name of every table. */
  readonly prefix: string;
}

/** The reader of the files: a database, or psql by a script. */
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
export function planLoad(finished: FinishedExport, reader: FileReader, prefix = ''): LoadPlan {
  const { manifest, hasEscapedCsv } = finished;
  const names = Object.keys(manifest.tables);
  const held = new Set(names.flatMap((name) => finished.filesOf(name).map((file) => file.format)));
  const isHeld = (format: TableFormat): boolean => held.has(format);
  const format = preferred[reader].find(isHeld);
  if (format === undefined && isHeld('parquet')) {
    throw new ExportError('usage', 'psql cannot read Parquet, and this export has no other loadable format', {
      todo: `Load it with asset-export load, which reads Parquet${manifest.kind === 'diff' ? '' : ', or export again with --format csv or jsonl'}.`,
    });
  }
  if (format === undefined) {
    throw new ExportError('usage', 'this export has no loadable tables', {
      todo: `Export again with --format ${preferred[reader].join(' or ')}${hasEscapedCsv ? '; CSV written with csv.formulas: escape cannot be loaded' : ''}.`,
    });
  }
  return {
    format,
    csvDialect: finished.csvDialect,
    seal: contentSeal(manifest),
    prefix,
    tables: names.map((name) => ({
      name,
      table: { ...finished.table(name), name: prefix + name },
      files: finished.filesOf(name).filter((file) => file.format === format),
      rows: manifest.tables[name]?.rows ?? 0,
    })),
  };
}

/** The source of a load statement. */
export function sourceOf({ table, files }: LoadTable, { format, csvDialect }: LoadPlan, folder: string): Source {
  return { table, format, folder, csvDialect, files: files.map(({ path }) => path) };
}

/** Rows that each table holds after a load, by its name in the export. */
export function rowsAfterLoad({ manifest }: Pick<FinishedExport, 'manifest'>): Readonly<Record<string, number>> {
  const { diff, tables } = manifest;
  if (diff !== undefined) {
    const { inserted, updated, unchanged } = diff.counts;
    return { ...diff.to.rows, assets: inserted + updated + unchanged };
  }
  const whole = Object.entries(tables).filter(([name]) => name !== changesTable.name);
  return Object.fromEntries(whole.map(([name, { rows }]) => [name, rows]));
}
