import { tableByName } from '../assets/columns.ts';
import type { Table } from '../assets/table.ts';
import { ExportError } from '../lib/export-error.ts';

/** The tables of those names. @throws {ExportError} `usage` for a name that is none. */
export function tablesOf(names: readonly string[]): Table[] {
  return names.map((name) => {
    const table = tableByName(name);
    if (table === undefined) throw new ExportError('usage', `${name} is not a table`);
    return table;
  });
}
