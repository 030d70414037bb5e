import { init, parse } from '@guanmingchiu/sqlparser-ts';
import type { DialectName } from '../../../src/wings/warehouse/dialects.ts';

await init();

/** Statements of a dialect that the parser does not know, most of which run in other tests. */
const unknown: Partial<Record<DialectName, RegExp>> = {
  bigquery: /^LOAD DATA INTO /,
  clickhouse:
    /^(SELECT throwIf|ALTER TABLE \S+ UPDATE |EXCHANGE |RENAME TABLE\s|CREATE TABLE \S+ AS `|CREATE (OR REPLACE )?TABLE \S+ ENGINE = Memory)/,
  duckdb: /^COMMENT ON /,
  redshift: /^COMMENT ON /,
  // Parquet gets into PostgreSQL by way of DuckDB, which runs these statements in other tests.
  postgres: /^(DO \$|DROP TABLE IF EXISTS pg_temp|ATTACH '|INSERT INTO warehouse\.\S+ BY NAME\s)/,
};

/** Words of a dialect that the parser does not know; the statement is parsed without them. */
const unknownWords: Partial<Record<DialectName, RegExp>> = {
  duckdb: / BY NAME(?=\s)/,
  clickhouse: /^COMMENT '.*(?=;?$)/gm,
};

export function isKnown(dialect: DialectName, statement: string): boolean {
  return unknown[dialect]?.test(statement) !== true;
}

/** Why a parser of the dialect refuses a statement; undefined where it takes it. */
export function problemOf(dialect: DialectName, statement: string): string | undefined {
  const known = unknownWords[dialect] === undefined ? statement : statement.replace(unknownWords[dialect], '');
  try {
    parse(known, dialect === 'postgres' ? 'postgresql' : dialect);
    return undefined;
  } catch (error) {
    return String(error);
  }
}
