import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { changesTable, fetchedAt, tables } from '../../../src/core/records/columns.ts';
import { type Field, fieldsOf } from '../../../src/core/records/field-ids.ts';
import { exportedAt, shapeTable, wholeTables } from '../../../src/core/records/shape-table.ts';
import type { Table } from '../../../src/core/records/table.ts';

const golden = new URL('golden/field-ids.txt', import.meta.url);

/** Every field of every table, a line each: `table.column id`. */
function lines(): string[] {
  const nested = shapeTable(tables[0] as Table, { ...wholeTables, nested: true }).table;
  const lists = { ...nested, columns: nested.columns.filter(({ elements }) => elements !== undefined) };
  const stamps = { name: '*', columns: [fetchedAt, exportedAt] };
  return [...tables, changesTable, lists, stamps].flatMap((table) => {
    return fieldsOf(table).flatMap((field) => linesOf(`${table.name}.${field.column.name}`, field));
  });
}

function linesOf(name: string, { id, element }: Field): string[] {
  if (element === undefined) return [`${name} ${id}`];
  const members = element.members.map((member) => `${name}[].${member.column.name} ${member.id}`);
  return [`${name}[list] ${id}`, `${name}[] ${element.id}`, ...members];
}

describe('field ids', () => {
  it('are those of the golden file, for ever', async () => {
    // A line may be added. None may be changed: files and Iceberg tables that exist name columns by these numbers.
    expect(`${lines().join('\n')}\n`).toBe(await readFile(golden, 'utf8'));
  });

  it('name each column of a table once, whatever its shape', () => {
    const shape = { ...wholeTables, exportedAtUs: 0, hasFetchedAt: true };
    for (const table of [...tables, changesTable])
      for (const nested of [false, true]) {
        const ids = fieldsOf(shapeTable(table, { ...shape, nested }).table).flatMap(({ id, element }) => {
          return [id, ...(element === undefined ? [] : [element.id, ...element.members.map((member) => member.id)])];
        });
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
