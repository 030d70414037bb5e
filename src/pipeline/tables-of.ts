import { assetsTable, tableByName } from '../assets/columns.ts';
import { listTableOf, type ShapedTable, shapeTable } from '../assets/shape-table.ts';
import type { Table } from '../assets/table.ts';
import type { Job } from '../job/job-schema.ts';
import { ExportError } from '../lib/export-error.ts';

/** The tables of a job as it wants them, for an export that began at that time. @throws {ExportError} `usage` for a name that is none. */
export function tablesOf({ output }: Pick<Job, 'output'>, startedAtMs: number): ShapedTable[] {
  const { columns, exclude, rename, nested, fetchedAt } = output;
  const shape = { columns, exclude, rename, nested, ...(fetchedAt ? { exportedAtUs: startedAtMs * 1000 } : {}) };
  return output.tables.map((name) => {
    const table = tableByName(name);
    if (table === undefined) throw new ExportError('usage', `${name} is not a table`);
    return shapeTable(table, shape);
  });
}

/** Child tables that are not written, but whose elements a list column of `assets` holds: their drift counts too. */
export function unwrittenLists(shaped: readonly ShapedTable[]): Table[] {
  const assets = shaped.find(({ table }) => table.name === assetsTable.name);
  const lists = assets?.table.columns.filter(({ elements }) => elements !== undefined).map(listTableOf) ?? [];
  return lists
    .filter((list) => list !== undefined)
    .filter(({ name }) => shaped.every(({ table }) => table.name !== name));
}
