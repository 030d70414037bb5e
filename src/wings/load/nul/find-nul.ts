import type { LoadTable } from '../../warehouse/index.ts';
import { isIdColumn } from '../../../core/records/table.ts';
import { ExportError } from '../../../lib/export-error.ts';
import { plural } from '../../../lib/format-text.ts';
import type { Database } from '../database.ts';
import type { LoadedExport } from '../loaded-export.ts';
import { hasNul } from './nul-values.ts';
import { columnsInDatabase } from '../table-columns.ts';

/** Whether PostgreSQL refused a NUL character: in a text, or its escape in JSON. */
export function isNulRefused(message: string): boolean {
  return /0x00|null byte|\\u0000/i.test(message);
}

/**
 * Looks through the files for NUL characters that PostgreSQL refuses; undefined when there are none.
 * @param refused the error of the database
 */
export async function nulError(
  database: Database,
  loaded: LoadedExport,
  { schema, refused }: { readonly schema: string | undefined; readonly refused: ExportError },
): Promise<ExportError | undefined> {
  const found: string[] = [];
  const { format } = loaded.plan;
  for (const { table, source } of filledFrom(loaded)) {
    const types = await columnsInDatabase(database, schema, table);
    // Out of a JSONL file no json value is taken that has the escape.
    const refusing = format === 'jsonl' ? ['json', 'jsonb'] : ['jsonb'];
    const jsonb = new Set([...types].filter(([, type]) => refusing.includes(type)).map(([column]) => column));
    for (const [column, { id, rows }] of await nulValues(loaded, source, jsonb))
      found.push(`${table}.${column} of ${id} has a NUL character (${plural(rows, 'row')})`);
  }
  if (found.length === 0) return undefined;
  // Out of other formats json keeps the escape.
  const more = format === 'jsonl' ? (refused.todo ?? '') : 'Nothing was kept.';
  const instead = `Load again with one of these flags, or load into DuckDB. ${more}`;
  return new ExportError('loadFailed', `${found.join(', ')}: --nul replace or --nul remove (${refused.message})`, {
    todo: instead.trimEnd(),
  });
}

/** The tables of the database that are filled, and what with: of a diff its changes. */
export function filledFrom({ plan: { tables, prefix }, changes, isDiff }: LoadedExport) {
  const sources = tables.map((source) => ({ table: source.table.name, source }));
  if (!isDiff || changes === undefined) return sources;
  return [{ table: `${prefix}assets`, source: changes }, ...sources.filter(({ source }) => source.files.length > 0)];
}

/** Rows with a NUL character by column, and the asset of the first of them. */
async function nulValues(
  { finished }: LoadedExport,
  { table, files }: LoadTable,
  jsonb: ReadonlySet<string>,
): Promise<ReadonlyMap<string, { readonly id: string; readonly rows: number }>> {
  // The first column of a child table is the id of its asset.
  const idAt = Math.max(0, table.columns.findIndex(isIdColumn));
  const counts = new Map<string, { id: string; rows: number }>();
  for (const file of files) {
    for await (const rows of finished.rows(file, table.columns)) {
      for (const row of rows) {
        for (const [at, column] of table.columns.entries()) {
          if (!hasNul(row[at] ?? null, column, jsonb)) continue;
          const count = counts.get(column.name) ?? { id: String(row[idAt]), rows: 0 };
          count.rows += 1;
          counts.set(column.name, count);
        }
      }
    }
  }
  return counts;
}
