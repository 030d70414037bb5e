import type { Column, ColumnType, Table } from '../../../core/records/table.ts';
import { escapedBackQuoted, escapedLiteral } from '../../../lib/sql-text.ts';
import { clickhouseType } from '../clickhouse.ts';

/** Types that hold every value of a column, as patterns: that of the printed statement and wider ones. */
const fitting: Readonly<Record<ColumnType, string>> = {
  string: 'String',
  json: 'String',
  boolean: '(Bool|UInt8)',
  int64: 'Int(64|128|256)',
  double: 'Float64',
  decimal: String.raw`Decimal\(([2-6]\d|7[0-6]), 0\)`,
  timestamp: String.raw`DateTime64\([6-9](, '[^']+')?\)`,
};

/**
 * Makes a table without rows, and fails where a column of these tables does not hold every value of the export: ClickHouse would
 * wrap, round or replace such values without an error.
 * @param name of the table
 * @param database the one that must be the current one, where one was selected
 */
export function requireTypes(tables: readonly Table[], name: string, database: string | undefined): string {
  const groups = new Map<string, string[]>();
  for (const table of tables) {
    for (const column of table.columns) {
      const wanted = `(${escapedLiteral(clickhouseType(column))}, ${escapedLiteral(patternOf(column))})`;
      const known = groups.get(wanted) ?? [];
      groups.set(wanted, [...known, `(${escapedLiteral(table.name)}, ${escapedLiteral(column.name)})`]);
    }
  }
  const wanted = [...groups].map(([type, columns]) => `    (table, name) IN (${columns.join(', ')}), ${type},\n`);
  const selected =
    database === undefined
      ? ''
      : ` AND throwIf(currentDatabase() <> ${escapedLiteral(database)}, 'another database is the current one') = 0`;
  return `-- A column that does not hold every value of the export ends the script here.
CREATE OR REPLACE TABLE ${escapedBackQuoted(name)} ENGINE = Memory AS
SELECT toInt8(concat('the column ', table, '.', name, ' is ', type, ', which would change values. Its type must be ', wanted.1)) AS misfit
FROM (
  SELECT table, name, type, multiIf(
${wanted.join('')}    ('', '')) AS wanted
  FROM system.columns WHERE database = currentDatabase()${selected}
) AS x WHERE NOT match(type, wanted.2);
`;
}

function patternOf(column: Column): string {
  const nullable = column.nullable ? String.raw`Nullable\(` : String.raw`(Nullable\()?`;
  return String.raw`^(LowCardinality\()?${nullable}${fitting[column.type]}\)*$`;
}
