import type { Column } from '../../core/records/table.ts';

/** The columns that scd2 adds. */
export const validColumns: readonly Column[] = (['valid_from', 'valid_to'] as const).map((name) => ({
  name,
  type: 'timestamp',
  nullable: name === 'valid_to',
  path: [],
  about: `Start of the export that ${name === 'valid_to' ? 'replaced' : 'brought'} the row.`,
}));

/** Names that columns of the export may not have. */
export const versionNames: readonly string[] = validColumns.map(({ name }) => name);
