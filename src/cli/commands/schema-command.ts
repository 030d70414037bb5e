import { isAbsolute, relative } from 'node:path';
import { changesTable, tableNames, tables } from '../../core/records/columns.ts';
import type { Table } from '../../core/records/table.ts';
import type { Job } from '../../core/job/job-schema.ts';
import { loadJob } from '../../core/job/load-job.ts';
import { requireAddress } from '../../lib/addresses/address.ts';
import { isBucketAddress } from '../../lib/addresses/bucket-address.ts';
import { exitCodes } from '../../lib/exit-codes.ts';
import { ExportError } from '../../lib/export-error.ts';
import { tablesOf } from '../../core/work/tables-of.ts';
import { csvDialectNames, type CsvDialectName } from '../../lib/csv-dialect.ts';
import { columnsDocument } from '../../wings/warehouse/index.ts';
import { changeModes, changeScript, historyView } from '../../wings/warehouse/index.ts';
import { type TableFormat, tableFormats } from '../../exports/table-source.ts';
import { hasLists } from '../../wings/warehouse/index.ts';
import {
  ddlFor,
  type DialectName,
  dialectNames,
  exampleFolders,
  loadStatementFor,
} from '../../wings/warehouse/index.ts';
import type { Command, CommandLine } from '../command.ts';
import { choiceOf } from '../flag-values.ts';

/** `schema`: the columns, their DDL and load statements, or the JSON Schema of job files. */
export const schemaCommand: Command = {
  usage: ['schema [job.yaml] [--table NAME] [--for NAME] [--folder DIR] [--mode merge|scd2] [--history PATTERN]'],
  about:
    'Prints the columns of the tables. --for prints the statements that create and load them in a warehouse, or the JSON Schema of job files. With a job file, the output describes the tables as that job writes them.',
  examples: [
    { line: 'schema --table creators', about: 'columns, types and their source fields' },
    { line: 'schema --for bigquery --folder gs://bucket/out', about: 'CREATE TABLE and LOAD DATA for every table' },
    { line: 'schema job.yaml --for duckdb', about: 'the same for the columns and formats of a job' },
    { line: 'schema --for snowflake --mode scd2', about: 'statements that keep every version of an asset' },
    { line: 'schema --for job', about: 'the JSON Schema of job files, for completion in editors' },
  ],
  words: { name: '[job]', about: 'job file: use its tables, columns, formats and folder', least: 0, most: 1 },
  groups: [
    {
      title: 'Flags',
      flags: [
        { name: 'table', value: 'NAME', choices: tableNames, about: `one table only: ${tableNames.join(', ')}` },
        { name: 'for', value: 'NAME', choices: [...dialectNames, 'job'], about: `${dialectNames.join(', ')} or job` },
        {
          name: 'mode',
          value: 'MODE',
          choices: changeModes,
          about: 'statements that apply the table changes: merge (assets as they are now) or scd2 (every version)',
        },
        {
          name: 'history',
          value: 'PATTERN',
          about:
            "with --for duckdb: print a view of every version of every asset, over the Parquet files of the exports that PATTERN matches, for example 'out/date=*'",
        },
        {
          name: 'folder',
          value: 'DIR',
          about: 'folder or bucket of the export, as the warehouse sees it',
          standard: 'a placeholder',
        },
      ],
    },
  ],
  run: async (args) => {
    const purpose = choiceOf(args, 'for', [...dialectNames, 'job'] as const);
    const history = args.text('history');
    if (history !== undefined && purpose !== 'duckdb') throw new ExportError('usage', '--history needs --for duckdb');
    if (history !== undefined) args.terminal.stdout.write(historyView(history));
    else if (purpose === 'job') args.terminal.stdout.write(await jobSchemaText());
    else args.terminal.stdout.write(tablesText(args, purpose));
    return exitCodes.complete.code;
  },
};

async function jobSchemaText(): Promise<string> {
  const { jobJsonSchema } = await import('../../core/job/job-json-schema.ts');
  return `${JSON.stringify(jobJsonSchema(), undefined, 2)}\n`;
}

/** What is written, and where: by a job, or all there is. */
interface Layout {
  readonly tables: readonly Table[];
  readonly formats: readonly TableFormat[];
  readonly folder?: string;
  readonly csvDialect?: CsvDialectName;
  readonly codecs?: Job['output']['compression'];
}

function tablesText(args: CommandLine, dialect: DialectName | undefined): string {
  const layout = layoutOf(args);
  const table = choiceOf(args, 'table', tableNames);
  // Jobs without a base write no changes: they are shown where they are asked for.
  const all = args.words.length === 0 && table === changesTable.name ? [changesTable] : layout.tables;
  const shown = all.filter(({ name }) => table === undefined || name === table);
  if (shown.length === 0) {
    throw new ExportError('usage', `the job does not write the table ${table ?? ''}`, {
      todo: `It writes ${layout.tables.map(({ name }) => name).join(', ')}.`,
    });
  }
  if (dialect === undefined && args.text('mode') !== undefined) throw new ExportError('usage', '--mode needs --for');
  if (dialect === undefined) return columnsDocument(shown);
  const given = args.text('folder');
  const named = given === undefined ? undefined : requireAddress(given, 'warehouse', '--folder');
  const folder = named ?? layout.folder ?? exampleFolders[dialect];
  const mode = choiceOf(args, 'mode', changeModes);
  if (mode !== undefined) return changeScript(shown, { dialect, mode, folder, format: formatFor(dialect, layout) });
  return shown.map((each) => statementsOf(each, dialect, { ...layout, folder })).join('\n');
}

/** The format in which the changes are read: psql reads no Parquet. */
function formatFor(dialect: DialectName, { formats }: Layout): TableFormat {
  const usual: TableFormat = dialect === 'postgres' ? 'csv' : 'parquet';
  return formats.includes(usual) ? usual : (formats.find((format) => format !== 'parquet') ?? usual);
}

function layoutOf(args: CommandLine): Layout {
  const [file] = args.words;
  if (file === undefined) return { tables, formats: tableFormats };
  const { job } = loadJob({ file, flags: {}, environment: args.terminal.env, folder: args.terminal.cwd() });
  const path = relative(args.terminal.cwd(), job.output.dir);
  return {
    // The time stands in no statement.
    tables: tablesOf(job, 0).map((shaped) => shaped.table),
    formats: tableFormats.filter((format) => job.output.formats.includes(format)),
    folder:
      isBucketAddress(job.output.dir) || path === '' || path.startsWith('..') || isAbsolute(path)
        ? job.output.dir
        : path,
    csvDialect: job.csv.dialect,
    codecs: job.output.compression,
  };
}

function statementsOf(
  table: Table,
  dialect: DialectName,
  { formats, folder = '', csvDialect, codecs }: Layout,
): string {
  const own = (csvDialectNames as readonly string[]).includes(dialect) ? (dialect as CsvDialectName) : 'rfc4180';
  const dialects: readonly CsvDialectName[] =
    csvDialect === undefined ? [...new Set(['rfc4180', own] as const)] : [csvDialect];
  // Only Parquet holds lists; in the other formats they are JSON text, which a table of text columns takes.
  const fitting = hasLists(table) && formats.includes('parquet') ? (['parquet'] as const) : formats;
  const loads = fitting.flatMap((format) =>
    format === 'csv'
      ? dialects.map(
          (name) =>
            `-- load: csv, written with csv.dialect: ${name}\n${loadStatementFor(dialect, { table, format, folder, csvDialect: name, codec: codecs?.csv })}`,
        )
      : [`-- load: ${format}\n${loadStatementFor(dialect, { table, format, folder, codec: codecs?.jsonl })}`],
  );
  return [ddlFor(dialect, table), ...loads].join('\n');
}
