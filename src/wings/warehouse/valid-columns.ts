import type { Column } from '../../core/records/table.ts';

/** The columns that scd2 adds. */
export const validColumns: readonly Column[] = [
  {
    name: 'valid_from',
    type: 'timestamp',
    nullable: false,
    path: [],
    about: 'Start of the export that brought the row.',
  },
  {
    name: 'valid_to',
    type: 'timestamp',
    nullable: true,
    path: [],
    about: 'Start of the export that replaced the row.',
  },
];

/** Names that columns of the export may not have. */
export const versionNames: readonly string[] = validColumns.map(({ name }) => name);
