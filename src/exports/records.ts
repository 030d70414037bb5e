import { assetsTable } from '../core/records/columns.ts';
import type { JsonObject } from '../lib/json/json.ts';
import { rebuildAsset } from '../core/records/rebuild-asset.ts';
import { type Column, wholeName } from '../core/records/table.ts';
import { ExportError } from '../lib/export-error.ts';
import type { FinishedExport, ManifestFile } from './finished-export.ts';
import { jsonLines } from './row-readers.ts';

/**
 * The files that hold every record of an export, in the order of the parts.
 * @throws {ExportError} `input` when it has neither raw files nor the whole rows of `assets`
 */
export function recordFiles(finished: FinishedExport): ManifestFile[] {
  const files = finished.filesOf(assetsTable.name);
  const [best] = files;
  if (best === undefined) {
    const why = finished.hasEscapedCsv ? ' (CSV written with csv.formulas: escape cannot be used)' : '';
    throw new ExportError(
      'input',
      `the export in ${finished.folder} has neither raw files nor a usable assets table${why}`,
      { todo: 'Export again with --tables assets, or with --format raw.' },
    );
  }
  if (best.format !== 'raw') requireWholeRows(finished);
  return files.filter(({ format }) => format === best.format);
}

/** The columns of `assets` that the job omitted. A record is rebuilt from all: an older program may have had fewer. */
export function omittedColumns({ manifest, tables }: Pick<FinishedExport, 'manifest' | 'tables'>): string[] {
  const excluded: unknown = manifest.job['output.exclude'];
  const isChosen = Array.isArray(manifest.job['output.columns']) || (Array.isArray(excluded) && excluded.length > 0);
  if (!isChosen) return [];
  const kept = new Set(tables.get(assetsTable.name)?.columns.map(wholeName));
  return assetsTable.columns.map(({ name }) => name).filter((name) => !kept.has(name));
}

/** Whether the rows of `assets` that records are rebuilt from are those that the records make: all cells are as these have them. */
export function holdsCells(finished: FinishedExport): boolean {
  const written = finished.tables.get(assetsTable.name)?.columns ?? [];
  const isWritten = ({ name, type }: Column): boolean =>
    written.some((column) => wholeName(column) === name && column.type === type);
  return recordFiles(finished)[0]?.format !== 'raw' && assetsTable.columns.every(isWritten);
}

function requireWholeRows(finished: FinishedExport): void {
  const { folder } = finished;
  const left = omittedColumns(finished);
  if (left.length === 0) return;
  throw new ExportError(
    'input',
    `cannot rebuild the assets of ${folder}: its job omitted ${left.slice(0, 3).join(', ')}${left.length > 3 ? ` and ${left.length - 3} more columns` : ''}`,
    { todo: 'Export again with --format raw, or without output.columns and output.exclude.' },
  );
}

/** The records in a raw file, or rebuilt from the rows of `assets` in another. */
export async function* recordsOf(
  finished: FinishedExport,
  file: ManifestFile,
): AsyncGenerator<JsonObject[], void, void> {
  if (file.format === 'raw') yield* jsonLines(finished.bytes(file));
  else for await (const rows of finished.rows(file, assetsTable.columns)) yield rows.map(rebuildAsset);
}
