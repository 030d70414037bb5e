import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { changesTable, fetchedAt, proofColumns, tables } from '../../../src/core/records/columns.ts';
import { fieldsOf, type Table } from '../../../src/core/records/table.ts';
import { exportedAt, shapeTable, wholeTables } from '../../../src/core/records/shape-table.ts';

const golden = new URL('golden/field-ids.txt', import.meta.url);

/** Every field of every table, a line each: `table.column id`. */
function lines(): string[] {
  const stamps = { name: '*', columns: [fetchedAt, exportedAt, ...proofColumns] };
  return [...tables, changesTable, stamps].flatMap((table) => {
    return fieldsOf(table).map(({ id, column }) => `${table.name}.${column.name} ${id}`);
  });
}

describe('field ids', () => {
  it('are those of the golden file, for ever', async () => {
    // A line may be added. None may be changed: files and Iceberg tables that exist name columns by these numbers.
    expect(`${lines().join('\n')}\n`).toBe(await readFile(golden, 'utf8'));
  });

  it('name each column of a table once, whatever its shape', () => {
    const shape = { ...wholeTables, exportedAtUs: 0, hasFetchedAt: true, hasProofs: true };
    for (const table of [...tables, changesTable]) {
      const ids = fieldsOf(shapeTable(table, shape).table).map(({ id }) => id);
      expect(new Set(ids).size).toBe(ids.length);
    }
  });

  it('stay with a column that the job renames', () => {
    const { table } = shapeTable(tables[0] as Table, { ...wholeTables, rename: { id: 'mint' } });
    expect(fieldsOf(table)[0]).toMatchObject({ id: 1, column: { name: 'mint' } });
  });

  it('are missing from columns that no Parquet file holds', () => {
    const column = { name: 'line', type: 'int64', nullable: false, path: [], about: '' } as const;
    expect(() => fieldsOf({ columns: [column] })).toThrow('column line has no field id');
  });
});
