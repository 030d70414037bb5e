import { changeColumns } from '../../core/records/columns.ts';

/** A view of the nights of a pattern, for DuckDB: the first night, and the changes of each later one. */
export function historyView(pattern: string): string {
  const folder = pattern.replace(/\/+$/, '').replaceAll("'", "''");
  return `CREATE OR REPLACE VIEW asset_history AS
WITH nights AS (
  SELECT min("date") AS first_night FROM read_parquet('${folder}/parquet/assets/*.parquet', hive_partitioning = true)
), versions AS (
  SELECT 'insert' AS op, "date" AS valid_from, * EXCLUDE ("date")
  FROM read_parquet('${folder}/parquet/assets/*.parquet', hive_partitioning = true, union_by_name = true)
  WHERE "date" = (SELECT first_night FROM nights)
  UNION ALL BY NAME
  SELECT op, "date" AS valid_from, * EXCLUDE (${changeColumns.join(', ')}, "date")
  FROM read_parquet('${folder}/parquet/changes/*.parquet', hive_partitioning = true, union_by_name = true)
  WHERE "date" > (SELECT first_night FROM nights)
), ended AS (
  SELECT *, lead(valid_from) OVER (PARTITION BY id ORDER BY valid_from) AS valid_to FROM versions
)
SELECT * EXCLUDE (op) FROM ended WHERE op <> 'delete';
`;
}
