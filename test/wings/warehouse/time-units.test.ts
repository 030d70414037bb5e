import { expect, it } from 'vitest';
import { loadStatementFor, engineNames, type EngineName } from '../../../src/wings/warehouse/engines.ts';
import {
  type InPlaceName,
  inPlaceNames,
  inPlaceTable,
} from '../../../src/wings/warehouse/in-place/in-place-engines.ts';
import { timesTable } from './written-tables.ts';

/**
 * What makes a database read our timestamps, whole microseconds, at their unit; `by itself` where it follows the logical type of
 * the Parquet file. A new engine has to say it here.
 */
const unitOptions: Readonly<Record<EngineName, RegExp | 'by itself'>> = {
  duckdb: 'by itself',
  // Parquet goes there by DuckDB.
  postgres: 'by itself',
  bigquery: 'by itself',
  snowflake: /TYPE = PARQUET USE_LOGICAL_TYPE = TRUE/,
  clickhouse: 'by itself',
  redshift: 'by itself',
};

it.each(engineNames)('%s reads timestamps of Parquet at their unit', (name) => {
  const option = unitOptions[name];
  const text = loadStatementFor(name, { table: timesTable, format: 'parquet', folder: 'out' });
  if (option !== 'by itself') expect(text).toMatch(option);
  else expect(text).not.toMatch(/logical|unit/i);
});

/** The type by which an engine that reads in place takes microseconds. */
const inPlaceTypes: Readonly<Record<InPlaceName, string>> = {
  athena: '`at`   timestamp ',
  // Its Hive connector has milliseconds unless a catalogue says otherwise; the times of exports are whole milliseconds.
  trino: '"at"   timestamp(3) ',
  spark: '`at`   TIMESTAMP ',
  databricks: '`at`   TIMESTAMP ',
};

it.each(inPlaceNames)('%s reads timestamps of Parquet at their unit', (name) => {
  expect(inPlaceTable(name, timesTable, 's3://bucket/out/parquet/times/')).toContain(inPlaceTypes[name]);
});
