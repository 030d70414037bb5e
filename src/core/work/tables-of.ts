import { tableByName } from '../records/columns.ts';
import { type ShapedTable, shapeTable } from '../records/shape-table.ts';
import type { Table } from '../records/table.ts';
import { childTables, recordPlan } from '../records/scan/record-plan.ts';
import { RecordRows } from '../records/scan/record-rows.ts';
import type { OpenReader } from '../client/asset-client.ts';
import { hasBase } from '../job/night-names.ts';
import type { Job } from '../job/job-schema.ts';
import type { Begun } from '../../places/export/export-facts.ts';
import { ExportError } from '../../lib/export-error.ts';

/** The tables of a job as it wants them, for an export that began so. @throws {ExportError} `usage` for a name that is none. */
export function tablesOf({ output, base }: Pick<Job, 'output' | 'base'>, { startedAtMs }: Begun): ShapedTable[] {
  const { columns, exclude, rename, exportedAt, proofs } = output;
  const shape = {
    columns,
    exclude,
    rename,
    hasFetchedAt: hasBase({ base }),
    hasProofs: proofs,
    ...(exportedAt ? { exportedAtUs: startedAtMs * 1000 } : {}),
  };
  return output.tables.map((name) => {
    const table = tableByName(name);
    if (table === undefined) throw new ExportError('usage', `${name} is not a table`);
    return shapeTable(table, shape);
  });
}

/** Makes the rows of these tables from the records of answers. */
export function readerOf(shaped: readonly ShapedTable[]): OpenReader<RecordRows> {
  const plan = recordPlan(listsOf(shaped));
  return (body) => new RecordRows(body, plan);
}

/** Whether rows of child tables are made. */
export function makesChildRows(shaped: readonly ShapedTable[]): boolean {
  return listsOf(shaped).length > 0;
}

function listsOf(shaped: readonly ShapedTable[]): Table[] {
  const written = shaped.map(({ whole }) => whole);
  return childTables.filter((table) => written.includes(table));
}
