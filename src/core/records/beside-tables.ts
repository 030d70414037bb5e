import { idsTable } from './ids-table.ts';
import type { Table } from './table.ts';
import { unexportedTable } from './unexported-table.ts';

/** What lies beside the tables of a job, each in a folder of its name: CSV of RFC 4180, whatever the job says. */
export const besideTables: readonly Table[] = [unexportedTable, idsTable];

export function isBesideTable(name: string): boolean {
  return besideTables.some((table) => table.name === name);
}
