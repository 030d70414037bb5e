import type { Column, Table } from '../../../core/records/table.ts';

function column(name: string, type: Column['type'], about: string): Column {
  return { name, type, nullable: name !== 'table', path: [], about };
}

/** What names of stages begin with, and names of no other table: such a `--prefix` is refused. */
export const stagePrefix = 'asset_export_stage_';

/** The table in which loads and scripts record what the tables hold now, as every database creates it. */
export const recordTable: Table = {
  name: '_asset_export_loads',
  columns: [
    column('table', 'string', 'Name of the table.'),
    column('seal', 'string', 'Names the export that the table holds.'),
    column('base_seal', 'string', 'Names the export that the table held before its changes were applied.'),
    column('mode', 'string', 'Mode of the load: replace or scd2.'),
    column('at', 'timestamp', 'Time of the load.'),
    column('export', 'string', 'Folder name of the export.'),
    column('started_at', 'timestamp', 'Start of the export.'),
    column('rows', 'int64', 'Rows of the export.'),
    column('deleted', 'int64', 'Rows that the load removed.'),
    column('nul_values', 'string', 'NUL characters that the load removed or replaced, by column, as JSON.'),
    column(
      'way',
      'string',
      'How the load brought the rows: by changes, by comparing, into empty tables, or a new file.',
    ),
    column('columns', 'string', 'Names of the columns that the export fills, as JSON.'),
  ],
};
