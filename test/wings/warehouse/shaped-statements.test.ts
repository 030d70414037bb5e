import { describe, expect, it } from 'vitest';
import { assetsTable } from '../../../src/core/records/columns.ts';
import { shapeTable, wholeTables } from '../../../src/core/records/shape-table.ts';
import { csvDialectNames } from '../../../src/core/formats/sink.ts';
import { ddlFor, engineNames, loadStatementFor } from '../../../src/wings/warehouse/engines.ts';
import { problemOf } from './sql-parser.ts';

const shape = {
  ...wholeTables,
  exportedAtUs: 0,
  columns: ['id', 'creators'],
  rename: { id: 'asset', creators: 'order' },
};
const { table } = shapeTable(assetsTable, shape);
const folder = 'out/demo';

describe.each(engineNames)('for %s, a table with new names and exported_at', (name) => {
  it('is created and loaded by these statements', async () => {
    const statements = [
      ddlFor(name, table),
      loadStatementFor(name, { table, format: 'parquet', folder }),
      loadStatementFor(name, { table, format: 'csv', folder, csvDialect: 'redshift' }),
      loadStatementFor(name, { table, format: 'jsonl', folder }),
    ];
    await expect(statements.join('\n')).toMatchFileSnapshot(`golden/shaped-${name}.sql`);
  });

  it('has a definition that a parser of the engine takes', () => {
    expect(problemOf(name, ddlFor(name, table).replaceAll(/--.*$/gm, ''))).toBeUndefined();
  });
});

describe('the CSV statements', () => {
  it.each(engineNames)('tell what stands for null in each engine: %s', (name) => {
    for (const csvDialect of csvDialectNames) {
      const text = loadStatementFor(name, { table: assetsTable, format: 'csv', folder, csvDialect });
      const isMarked = csvDialect === 'redshift' || csvDialect === 'clickhouse';
      expect(/'\\{1,2}N'/.test(text), text).toBe(isMarked);
    }
  });
});
