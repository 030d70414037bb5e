import type { ColumnType } from '../assets/table.ts';
import {
  createTableText,
  type Dialect,
  doubleQuoted,
  filesOf,
  literal,
  nullTextOf,
  type Source,
  typeIn,
  isList,
} from './dialect.ts';
import { readerOf } from './duckdb.ts';

/** `json` keeps the text as it came; `jsonb` would refuse a lone surrogate and reprint numbers. */
const types: Readonly<Record<ColumnType, string>> = {
  string: 'text',
  boolean: 'boolean',
  int64: 'bigint',
  double: 'double precision',
  decimal: 'numeric(20, 0)',
  json: 'json',
  timestamp: 'timestamp(6) with time zone',
};

export const postgres: Dialect = {
  title: 'PostgreSQL',
  types,
  createTable: (table) =>
    createTableText(table, { quoteName: doubleQuoted, typeOf: typeIn({ types, listType: () => types.json }) }),
  load: (source) => loads[source.format](source),
};

/** Meant for psql, whose \copy reads files of the machine it runs on; it takes one line. */
const loads: Readonly<Record<Source['format'], (source: Source) => string>> = {
  csv: (source) => `-- In psql. For compressed parts: gzip -dc or zstd -dc of each part before tail.
\\copy ${doubleQuoted(source.table.name)} FROM PROGRAM ${literal(`tail -q -n +2 ${shellGlob(source, '.csv')}`)} WITH (FORMAT csv${nullTextOf(source) === '' ? '' : `, NULL ${literal(nullTextOf(source))}`})
`,
  // No JSON text holds the bytes 1 and 2: as delimiter and quote they make each line one cell.
  jsonl: (source) => `-- In psql. For compressed parts: gzip -dc or zstd -dc instead of cat.
CREATE TEMP TABLE lines (line json);
\\copy lines FROM PROGRAM ${literal(`cat ${shellGlob(source, '.jsonl')}`)} WITH (FORMAT csv, DELIMITER E'\\x01', QUOTE E'\\x02')
INSERT INTO ${doubleQuoted(source.table.name)}
SELECT filled.* FROM lines, json_populate_record(NULL::${doubleQuoted(source.table.name)}, line) AS filled;
DROP TABLE lines;
`,
  parquet: (
    source,
  ) => `-- PostgreSQL reads no Parquet: run this in DuckDB, with your database in place of dbname=warehouse.
ATTACH 'dbname=warehouse' AS warehouse (TYPE postgres);
INSERT INTO warehouse.${doubleQuoted(source.table.name)} BY NAME
SELECT *${listsAsJson(source)} FROM ${readerOf(source)};
`,
};

/** Lists of structs go over as json. */
function listsAsJson({ table }: Source): string {
  const lists = table.columns.filter(isList).map(({ name }) => doubleQuoted(name));
  return lists.length === 0 ? '' : ` REPLACE (${lists.map((name) => `to_json(${name}) AS ${name}`).join(', ')})`;
}

/** The files for a shell: the folder quoted, the pattern not. */
function shellGlob(source: Source, ending: string): string {
  const files = filesOf(source);
  const folder = files.slice(0, files.lastIndexOf('/') + 1);
  return `"${folder.replaceAll(/["$\\`]/g, (character) => `\\${character}`)}"part-*${ending}`;
}
