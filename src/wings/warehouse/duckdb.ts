import { duckdbTypes, tableFunctionOf } from '../../exports/duckdb-files.ts';
import { doubleQuoted } from '../../lib/sql-text.ts';
import { commentsOn, createTableText, type Engine, typeIn } from './engine.ts';

export const duckdbType = typeIn(duckdbTypes);

export const duckdb: Engine = {
  types: duckdbTypes,
  createTable: (table) => createTableText(table, { quoteName: doubleQuoted, typeOf: duckdbType }),
  describe: (table) => commentsOn(table, doubleQuoted),
  load: (source) =>
    `INSERT INTO ${doubleQuoted(source.table.name)} BY NAME\nSELECT * FROM ${tableFunctionOf(source)};\n`,
};
