import type { Column, ColumnType, Table } from '../../../core/records/table.ts';
import { ExportError } from '../../../lib/export-error.ts';
import { backQuoted, doubleQuoted, escapedLiteral, literal } from '../../../lib/sql-text.ts';
import { aboutTable, createTableText } from '../engine.ts';
import { type NightsAddress, requireKey } from './nights-address.ts';

/** An engine that reads the Parquet files of an export where they lie. */
interface InPlaceEngine {
  /** A table over a folder of files. */
  readonly whole: (table: Table, files: string) => string;
  /** A table over every night, with the column `day`. @param files its folder in a night */
  readonly nights: (table: Table, address: NightsAddress, files: string) => string;
}

export const inPlaceNames = ['athena', 'trino', 'spark', 'databricks'] as const;
export type InPlaceName = (typeof inPlaceNames)[number];

const aboutDay = 'The night: the day in the name of its folder.';

type ColumnTypes = Readonly<Record<ColumnType, string>>;

function typesOf(types: ColumnTypes): (column: Column) => string {
  return ({ type }) => types[type];
}

const hiveTypes: ColumnTypes = {
  string: 'string',
  boolean: 'boolean',
  int64: 'bigint',
  double: 'double',
  decimal: 'decimal(20,0)',
  json: 'string',
  timestamp: 'timestamp',
};

/** Athena's DDL is Hive's. The partition is not called `date`, which is reserved there. */
const athena: InPlaceEngine = {
  whole: (table, files) => hiveTable(table, `LOCATION ${literal(requireS3(files))}`, ''),
  nights: (table, address, files) => {
    const root = requireS3(address.root);
    const properties = [
      ['projection.enabled', 'true'],
      ['projection.day.type', 'date'],
      ['projection.day.format', 'yyyy-MM-dd'],
      ['projection.day.range', `${address.first},NOW`],
      ['projection.day.interval', '1'],
      ['projection.day.interval.unit', 'DAYS'],
      ['storage.location.template', dayTemplate(root, address, files)],
    ].map(([name = '', value = '']) => `  ${literal(name)} = ${literal(value)}`);
    return hiveTable(
      table,
      `LOCATION ${literal(`${root}/`)}\nTBLPROPERTIES (\n${properties.join(',\n')}\n)`,
      `PARTITIONED BY (\`day\` string COMMENT ${literal(aboutDay)})\n`,
    );
  },
};

/** The folder of a table in the night `${day}`. */
function dayTemplate(root: string, { folders }: NightsAddress, files: string): string {
  return `${root}/${folders.replace('*', () => '${day}')}/${files}`;
}

function hiveTable(table: Table, rest: string, partition: string): string {
  return createTableText(table, {
    quoteName: backQuoted,
    typeOf: typesOf(hiveTypes),
    described: (about) => `COMMENT ${literal(about)}`,
    suffix: `\nCOMMENT ${literal(aboutTable(table))}\n${partition}STORED AS PARQUET\n${rest}`,
  }).replace('CREATE TABLE', 'CREATE EXTERNAL TABLE IF NOT EXISTS');
}

function requireS3(folder: string): string {
  if (folder.startsWith('s3://')) return folder;
  throw new ExportError('usage', `athena cannot read ${folder}`, { todo: 'It reads S3: --folder s3://bucket/export.' });
}

/** A time has three digits: Trino's Hive connector takes no others by default, and the times of exports are whole milliseconds. */
const trinoTypes: ColumnTypes = {
  string: 'varchar',
  boolean: 'boolean',
  int64: 'bigint',
  double: 'double',
  decimal: 'decimal(20, 0)',
  json: 'varchar',
  timestamp: 'timestamp(3)',
};

const trino: InPlaceEngine = {
  whole: (table, files) => trinoTable(table, [`external_location = ${literal(cloudAddress(files))}`]),
  nights: (table, address, files) => {
    const root = cloudAddress(address.root);
    const day: Column = { name: 'day', type: 'string', nullable: false, path: [], about: aboutDay };
    const text = trinoTable({ ...table, columns: [...table.columns, day] }, [
      `external_location = ${literal(`${root}/`)}`,
      "partitioned_by = ARRAY['day']",
      'partition_projection_enabled = true',
      `partition_projection_location_template = ${literal(dayTemplate(root, address, files))}`,
    ]);
    const projection = `COMMENT ${literal(aboutDay)} WITH (
    partition_projection_type = 'date',
    partition_projection_format = 'yyyy-MM-dd',
    partition_projection_range = ARRAY[${literal(address.first)}, 'NOW'],
    partition_projection_interval = 1,
    partition_projection_interval_unit = 'DAYS'
  )`;
    return text.replace(`COMMENT ${literal(aboutDay)}`, () => projection);
  },
};

function trinoTable(table: Table, properties: readonly string[]): string {
  return createTableText(table, {
    quoteName: doubleQuoted,
    typeOf: typesOf(trinoTypes),
    described: (about) => `COMMENT ${literal(about)}`,
    suffix: `\nCOMMENT ${literal(aboutTable(table))}\nWITH (\n  format = 'PARQUET',\n  ${properties.join(',\n  ')}\n)`,
  }).replace('CREATE TABLE', 'CREATE TABLE IF NOT EXISTS');
}

const sparkTypes: ColumnTypes = {
  string: 'STRING',
  boolean: 'BOOLEAN',
  int64: 'BIGINT',
  double: 'DOUBLE',
  decimal: 'DECIMAL(20, 0)',
  json: 'STRING',
  timestamp: 'TIMESTAMP',
};

/** @param addressOf what the engine calls a place in a bucket */
function sparkEngine(name: InPlaceName, addressOf: (folder: string) => string): InPlaceEngine {
  return {
    whole: (table, files) =>
      createTableText(table, {
        quoteName: backQuoted,
        typeOf: typesOf(sparkTypes),
        described: (about) => `COMMENT ${escapedLiteral(about)}`,
        suffix: `\nUSING PARQUET\nCOMMENT ${escapedLiteral(aboutTable(table))}\nLOCATION ${escapedLiteral(addressOf(files))}`,
      }).replace('CREATE TABLE', 'CREATE TABLE IF NOT EXISTS'),
    nights: (table, address, files) => {
      const root = addressOf(address.root);
      const key = requireKey(address, name);
      const view = backQuoted(`${table.name}_files`);
      return `CREATE OR REPLACE TEMPORARY VIEW ${view}
USING PARQUET
OPTIONS (
  path ${escapedLiteral(`${root}/${address.folders}/${files}`)},
  basePath ${escapedLiteral(root)},
  mergeSchema 'true'
);
CREATE OR REPLACE TEMPORARY VIEW ${backQuoted(table.name)} AS
SELECT *, CAST(${backQuoted(key)} AS STRING) AS \`day\` FROM ${view};
`;
    },
  };
}

/** Azure's own name of a place that we call `az://account/container/path`. */
function cloudAddress(folder: string): string {
  return folder.replace(/^az:\/\/([^/]+)\/([^/]+)/, 'abfss://$2@$1.dfs.core.windows.net');
}

const engines: Readonly<Record<InPlaceName, InPlaceEngine>> = {
  athena,
  trino,
  // Hadoop's connector has a scheme of its own.
  spark: sparkEngine('spark', (folder) => cloudAddress(folder).replace(/^s3:/, 's3a:')),
  databricks: sparkEngine('databricks', cloudAddress),
};

/** The statement of a table over the files of one export. @param files their folder @throws {ExportError} `usage` */
export function inPlaceTable(name: InPlaceName, table: Table, files: string): string {
  return engines[name].whole(table, files);
}

/** The statements of a table over every night. @param files its folder in a night @throws {ExportError} `usage` */
export function inPlaceNights(name: InPlaceName, table: Table, address: NightsAddress, files: string): string {
  return engines[name].nights(table, address, files);
}
