import { duckdbTypes, tableFunctionOf } from '../../exports/duckdb-files.ts';
import { doubleQuoted } from '../../lib/sql-text.ts';
import { type ColumnTypes, commentsOn, createTableText, type Dialect, typeIn } from './dialect.ts';

const columnTypes: ColumnTypes = {
  types: duckdbTypes,
  listType: (members) => `STRUCT(${members.map(({ name, type }) => `${doubleQuoted(name)} ${type}`).join(', ')})[]`,
};

export const duckdbType = typeIn(columnTypes);

export const duckdb: Dialect = {
  types: duckdbTypes,
  createTable: (table) => createTableText(table, { quoteName: doubleQuoted, typeOf: duckdbType }),
  describe: (table) => commentsOn(table, doubleQuoted),
  load: (source) =>
    `INSERT INTO ${doubleQuoted(source.table.name)} BY NAME\nSELECT * FROM ${tableFunctionOf(source)};\n`,
};
