import { assetsTable } from '../core/records/columns.ts';
import {
  parseJson,
  isJsonObject,
  type Json,
  type JsonObject,
  setMemberAt,
  numberOf,
  numberText,
} from '../lib/json/json.ts';
import { type Cell, type Column, type Row, wholeName } from '../core/records/table.ts';
import { ExportError } from '../lib/export-error.ts';
import type { FinishedExport, ManifestFile } from './finished-export.ts';
import { jsonLines } from './row-readers.ts';

const extraAt = assetsTable.columns.findIndex((column) => column.name === 'extra');

/**
 * The record that a row of `assets` was made from: equal to it except null members, which are absent, the order of members,
 * and numbers written another way (`1.0` in a typed column comes back as `1`).
 * @throws {SyntaxError} when a json cell holds no JSON.
 */
export function rebuildAsset(row: Row): JsonObject {
  // What the columns could not hold comes first: a row made from the result again has its `extra` in the same order.
  const extra = row[extraAt];
  const left = typeof extra === 'string' ? parseJson(extra) : null;
  const record: JsonObject = isJsonObject(left) ? left : {};
  for (const [index, column] of assetsTable.columns.entries()) {
    const cell = row[index] ?? null;
    if (cell !== null && column.path.length > 0) setMemberAt(record, column.path, valueOf(cell, column));
  }
  return record;
}

function valueOf(cell: Exclude<Cell, null>, column: Column): Json {
  if (typeof cell === 'bigint') return numberOf(String(cell));
  if (typeof cell === 'number') return numberOf(numberText(cell));
  return column.type === 'json' && typeof cell === 'string' ? parseJson(cell) : cell;
}

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
function omittedColumns({ manifest, tables }: Pick<FinishedExport, 'manifest' | 'tables'>): string[] {
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
