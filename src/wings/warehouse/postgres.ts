import { ExportError } from '../../lib/export-error.ts';
import type { ColumnType, Table } from '../../core/records/table.ts';
import { codecOf, type FileCodec } from '../../lib/decompress.ts';
import { doubleQuoted, literal } from '../../lib/sql-text.ts';
import { folderOf, nullTextOf, type Source, within, tableFunctionOf } from '../../exports/duckdb-files.ts';
import { columnList, commentsOn, createTableText, type Engine, typeIn } from './engine.ts';

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

/**
 * JSONL goes into a table of its lines, out of which the server takes the values: json columns are values there.
 * No JSON text holds the bytes 1 and 2: as delimiter and quote they make each line one cell.
 */
export const jsonLinesCopy = {
  create: 'CREATE TEMP TABLE lines (line json);\n',
  table: 'lines',
  copyOptions: `FORMAT csv, DELIMITER E'\\x01', QUOTE E'\\x02'`,
  /** The statements that fill the table of that name and drop the lines. A column may be called line, too. */
  fill: (table: Table): string => `INSERT INTO ${doubleQuoted(table.name)} (
${columnList(table, ({ name }) => doubleQuoted(name))}
)
SELECT
${columnList(table, ({ name }) => `filled.${doubleQuoted(name)}`)}
FROM lines, json_populate_record(NULL::${doubleQuoted(table.name)}, line) AS filled;
DROP TABLE lines;
`,
} as const;

export const postgresType = typeIn(types);

export const postgres: Engine = {
  types,
  // A field has at most 1 GB (postgresql.org/docs/current/limits.html): 1,073,741,819 bytes are refused, since their row takes more.
  longestText: 1_000_000_000,
  createTable: (table) => createTableText(table, { quoteName: doubleQuoted, typeOf: postgresType }),
  describe: (table) => commentsOn(table, doubleQuoted),
  load: (source) => loads[source.format](source),
};

/** Programs that write what they unpack to stdout. */
const unpackers: Readonly<Record<FileCodec, string | undefined>> = {
  none: undefined,
  gzip: 'gzip -dc',
  zstd: 'zstd -dc',
};

/** Meant for psql, whose \copy reads files of the machine it runs on; it takes one line. */
const loads: Readonly<Record<Source['format'], (source: Source) => string>> = {
  csv: (source) => {
    const { table, files } = source;
    const into = `${doubleQuoted(table.name)} (${table.columns.map(({ name }) => doubleQuoted(name)).join(', ')})`;
    const options = `FORMAT csv${nullTextOf(source) === '' ? '' : `, NULL ${literal(nullTextOf(source))}`}`;
    if (files !== undefined) return copies(into, inputsOf(source, files), `${options}, HEADER true`);
    const unpack = unpackers[source.codec ?? 'none'];
    const rows =
      unpack === undefined
        ? `tail -q -n +2 ${shellGlob(source)}`
        : `for part in ${shellGlob(source)}; do ${unpack} "$part" | tail -n +2; done`;
    const note =
      source.codec === undefined ? ' For compressed parts: gzip -dc or zstd -dc of each part before tail.' : '';
    return `-- In psql.${note}\n${copies(into, [program(rows)], options)}`;
  },
  jsonl: (source) => {
    const { table, files } = source;
    const unknown = source.codec === undefined ? ' For compressed parts: gzip -dc or zstd -dc instead of cat.' : '';
    const note = files === undefined ? `-- In psql.${unknown}\n` : '';
    const unpack = unpackers[source.codec ?? 'none'] ?? 'cat';
    const inputs = files === undefined ? [program(`${unpack} ${shellGlob(source)}`)] : inputsOf(source, files);
    return `${note}${jsonLinesCopy.create}${copies(jsonLinesCopy.table, inputs, jsonLinesCopy.copyOptions)}${jsonLinesCopy.fill(table)}`;
  },
  parquet: (
    source,
  ) => `-- PostgreSQL cannot read Parquet. Run this in DuckDB; replace dbname=warehouse by your database.
ATTACH 'dbname=warehouse' AS warehouse (TYPE postgres);
INSERT INTO warehouse.${doubleQuoted(source.table.name)} BY NAME
SELECT * FROM ${tableFunctionOf(source)};
`,
};

/**
 * A file each, so that psql sees whether it could be read whole. It runs what stands behind a line break.
 * @throws {ExportError} `usage`
 */
function copies(into: string, inputs: readonly string[], options: string): string {
  const broken = inputs.find((input) => /[\r\n]/.test(input));
  if (broken !== undefined) {
    throw new ExportError('usage', `psql cannot read ${JSON.stringify(broken)}: the path has a line break`, {
      todo: 'Rename the folder, or name another one with --folder.',
    });
  }
  return inputs.map((input) => `\\copy ${into} FROM ${input} WITH (${options})\n`).join('');
}

function inputsOf({ folder }: Source, files: readonly string[]): string[] {
  return files.map((file) => {
    const path = within(folder, file);
    const unpack = unpackers[codecOf(path)];
    return unpack === undefined ? literal(path) : program(`${unpack} ${shellQuoted(path)}`);
  });
}

function program(command: string): string {
  return `PROGRAM ${literal(command)}`;
}

/** The files of a table for a shell: the folder quoted, the pattern not. Those that are not compressed where the codec is not known. */
function shellGlob(source: Source): string {
  const ending = { none: '', gzip: '.gz', zstd: '.zst' }[source.codec ?? 'none'];
  return `${shellQuoted(folderOf(source))}part-*.${source.format}${ending}`;
}

function shellQuoted(text: string): string {
  return `"${text.replaceAll(/["$\\`]/g, (character) => `\\${character}`)}"`;
}
