import { init, parse } from '@guanmingchiu/sqlparser-ts';
import type { EngineName } from '../../../src/wings/warehouse/engines.ts';

await init();

/** Statements of a engine that the parser does not know, most of which run in other tests. */
const unknown: Partial<Record<EngineName, RegExp>> = {
  bigquery: /^LOAD DATA INTO /,
  clickhouse:
    /^(SELECT throwIf|ALTER TABLE \S+ UPDATE |EXCHANGE |RENAME TABLE\s|CREATE TABLE \S+ AS `|CREATE (OR REPLACE )?TABLE \S+ ENGINE = Memory)/,
  duckdb: /^COMMENT ON /,
  redshift: /^COMMENT ON /,
  // Parquet gets into PostgreSQL by way of DuckDB, which runs these statements in other tests.
  postgres: /^(DO \$|DROP TABLE IF EXISTS pg_temp|ATTACH '|INSERT INTO warehouse\.\S+ BY NAME\s)/,
};

/** Words of a engine that the parser does not know; the statement is parsed without them. */
const unknownWords: Partial<Record<EngineName, RegExp>> = {
  duckdb: / BY NAME(?=\s)/,
  clickhouse: /^COMMENT '.*(?=;?$)/gm,
};

export function isKnown(engine: EngineName, statement: string): boolean {
  return unknown[engine]?.test(statement) !== true;
}

/** Why a parser of the engine refuses a statement; undefined where it takes it. */
export function problemOf(engine: EngineName, statement: string): string | undefined {
  const known = unknownWords[engine] === undefined ? statement : statement.replace(unknownWords[engine], '');
  try {
    parse(known, engine === 'postgres' ? 'postgresql' : engine);
    return undefined;
  } catch (error) {
    return String(error);
  }
}
