import { tableNames, changesTable } from '../../../core/records/columns.ts';
import { exitCodes } from '../../../lib/exit-codes.ts';
import { ExportError } from '../../../lib/export-error.ts';
import {
  columnsDocument,
  engineNames,
  inPlaceNames,
  dbtSources,
  nftView,
  inPlaceNights,
  inPlaceTable,
  nightsAddress,
  nightsView,
} from '../../../wings/warehouse/index.ts';
import type { Command, CommandLine } from '../../command.ts';
import { bucketFlags, exportAddress } from '../../export-place.ts';
import { choiceOf } from '../../flag-values.ts';
import { jobWords } from '../../job-flags.ts';
import { exampleText, scriptText, givenNames, schemaText, givenFolder } from './print-statements.ts';
import { layoutOf, tablesOfExport } from './schema-layout.ts';
import { basename, resolve } from 'node:path';
import { within } from '../../../exports/duckdb-files.ts';
import type { Table } from '../../../core/records/table.ts';

/** Where an export may lie for an engine that reads in place, to fill in. */
const exampleFolder = 's3://bucket/out';
const exampleFirst = '2026-01-01';

/** Tables over the files of an export, or of every night, for an engine that reads them in place. @throws {ExportError} `usage` */
async function inPlaceText(args: CommandLine, engine: string): Promise<string> {
  const { schema, prefix } = givenNames(args);
  const isExport = args.text('of') !== undefined;
  const { tables, folder } = isExport ? { tables: await tablesOfExport(args), folder: undefined } : parquetLayout(args);
  const pattern =
    args.text('nights') ?? (folder?.includes('{date}') === true ? (givenFolder(args) ?? folder) : undefined);
  const first = /\d{4}-\d{2}-\d{2}/.exec(isExport ? basename(args.text('of') ?? '') : '')?.[0];
  const texts = tables.map((table) => {
    const named = { ...table, name: prefix + table.name };
    const address = (text: string): string => addressForEngine(text, args.terminal.cwd());
    if (pattern === undefined)
      return wholeText(engine, named, within(address(wholeFolder(args, folder)), filesOfTable(table)));
    return nightsText(engine, named, nightsAddress(address(pattern), first ?? exampleFirst), filesOfTable(table));
  });
  const isGuessed = pattern !== undefined && first === undefined && ['athena', 'trino'].includes(engine);
  return [
    ...(isGuessed ? [`-- The range begins at ${exampleFirst}: name the first night with --of EXPORT.\n`] : []),
    ...(schema === undefined ? [] : [schemaText(engine, schema)]),
    ...texts,
  ].join('\n');
}

function parquetLayout(args: CommandLine) {
  const layout = layoutOf(args);
  if (layout.formats.includes('parquet')) return layout;
  throw new ExportError('usage', 'engines that read in place read Parquet, which this job does not write', {
    todo: 'Add parquet to output.formats.',
  });
}

/** What reads in place does so from a folder of its own: a folder of this machine is told from its root. */
function addressForEngine(text: string, cwd: string): string {
  return /^([a-z][a-z\d+.-]*:|@)/i.test(text) ? text : resolve(cwd, text);
}

function filesOfTable({ name }: Pick<Table, 'name'>): string {
  return `parquet/${name}/`;
}

function wholeFolder(args: CommandLine, folder: string | undefined): string {
  const of = args.text('of');
  const own = of === undefined ? undefined : exportAddress(of, args.terminal.cwd());
  return givenFolder(args) ?? own ?? folder ?? exampleFolder;
}

function wholeText(engine: string, table: Table, files: string): string {
  const name = inPlaceNames.find((each) => each === engine);
  if (name === undefined) throw noNights(engine);
  return inPlaceTable(name, table, files);
}

function nightsText(engine: string, table: Table, address: ReturnType<typeof nightsAddress>, files: string): string {
  if (engine === 'duckdb' || engine === 'clickhouse') return nightsView(engine, table, address, files);
  const name = inPlaceNames.find((each) => each === engine);
  if (name === undefined) throw noNights(engine);
  return inPlaceNights(name, table, address, files);
}

function noNights(engine: string): ExportError {
  const isWarehouse = engineNames.some((name) => name === engine);
  const isBigquery = engine === 'bigquery';
  const why = isBigquery ? ': its addresses take one asterisk' : '';
  const loads = `Load each night: asset-export schema --of EXPORT --for ${engine}.`;
  const lake = ' Or read every night as Iceberg tables: asset-export lake ROOT --for bigquery.';
  return new ExportError('usage', `--nights does not go with --for ${engine}${why}`, {
    todo: isWarehouse ? `${loads}${isBigquery ? lake : ''}` : 'Name an engine with --for.',
  });
}

const purposes = [...engineNames, ...inPlaceNames, 'dbt', 'job'] as const;

/** What `--for` may name beside a flag that needs it. */
const purposesOf = {
  mode: [...engineNames, ...inPlaceNames, 'dbt'],
  nights: ['duckdb', 'clickhouse', ...inPlaceNames],
  views: [...engineNames, ...inPlaceNames],
} as const;

const scriptModes = ['replace', 'scd2'] as const;

/** `schema`: the columns, the statements that create and load them, or the JSON Schema of job files. */
export const schemaCommand: Command = {
  usage: [
    'schema [job.yaml] [--table NAME] [--for NAME] [--folder DIR]',
    'schema --of EXPORT --for NAME [--schema NAME] [--prefix TEXT] [--folder DIR]',
    'schema [job.yaml] --for athena|trino|spark|databricks [--of EXPORT] [--nights PATTERN] [--folder DIR]',
    'schema [job.yaml] --for NAME --views [--of EXPORT] [--mode scd2] [--prefix TEXT]',
    'schema [job.yaml] --for dbt [--of EXPORT] [--mode scd2] [--schema NAME] [--prefix TEXT]',
  ],
  about:
    'Prints the columns of the tables. --for prints the statements that create and load them in a warehouse, or the JSON Schema of job files. With a job file, the output describes the tables as that job writes them. With --of, it is a script that loads this export and can run twice.',
  examples: [
    { line: 'schema --table creators', about: 'columns, types and their source fields' },
    { line: 'schema --for bigquery --folder gs://bucket/out', about: 'CREATE TABLE and LOAD DATA for every table' },
    { line: 'schema job.yaml --for duckdb', about: 'the same for the columns and formats of a job' },
    {
      line: 'schema --of out/date=2026-11-20 --for clickhouse',
      about: 'a script that replaces the tables by this export, in one step for readers',
    },
    {
      line: "schema --for athena --of out/date=2026-11-20 --nights 's3://bucket/nightly/date=*'",
      about: 'tables over every night, read in place',
    },
    { line: 'schema --for postgres --views', about: 'the view nft_metadata' },
    {
      line: 'schema --for dbt --schema raw > models/sources.yml',
      about: 'sources of dbt, with descriptions and tests',
    },
    { line: 'schema --for job', about: 'the JSON Schema of job files, for completion in editors' },
  ],
  words: { ...jobWords, about: 'job file: use its tables, columns, formats and folder' },
  groups: [
    {
      title: 'Flags',
      flags: [
        { name: 'table', value: 'NAME', choices: tableNames, about: `one table only: ${tableNames.join(', ')}` },
        { name: 'for', value: 'NAME', choices: purposes, about: purposes.join(', ') },
        {
          name: 'nights',
          value: 'PATTERN',
          about:
            "athena, trino, spark, databricks, duckdb, clickhouse: read every night in place, for example 's3://bucket/nightly/date=*'; with --of, that export is the first night",
          standard: 'output.dir of a job file with {date}',
        },
        {
          name: 'of',
          value: 'EXPORT',
          about: 'a complete export: print the script for its tables, columns, files and seal',
        },
        {
          name: 'mode',
          value: 'MODE',
          choices: scriptModes,
          about: 'replace with --of, the default there; scd2 with --views or --for dbt, for tables of load --mode scd2',
        },
        {
          name: 'views',
          about:
            'print the view nft_metadata: a row for each asset, under plain names; with --mode scd2 over open rows',
        },
        { name: 'schema', value: 'NAME', about: 'schema of the tables; BigQuery: dataset, ClickHouse: database' },
        { name: 'prefix', value: 'TEXT', about: 'prefix for every table name' },
        {
          name: 'cluster',
          value: 'COLUMNS',
          about:
            'bigquery, snowflake, redshift, clickhouse: order the rows of new tables by these columns, for example collection,ownership_owner',
        },
        {
          name: 'folder',
          value: 'DIR',
          about: 'folder or bucket of the export, as the warehouse sees it',
          standard: 'a placeholder; with --of the export itself',
        },
        ...bucketFlags,
      ],
    },
  ],
  run: async (args) => {
    args.terminal.stdout.write(await textOf(args));
    return exitCodes.complete.code;
  },
};

async function textOf(args: CommandLine): Promise<string> {
  const purpose = choiceOf(args, 'for', purposes);
  requireFitting(args, purpose);
  if (purpose === 'job') return jobSchemaText();
  const isExport = args.text('of') !== undefined;
  if (purpose === undefined) return columnsDocument(isExport ? await tablesOfExport(args) : layoutOf(args).tables);
  const engine = engineNames.find((name) => name === purpose);
  if (purpose === 'dbt' || args.isOn('views')) return analystsText(args, purpose);
  if (engine === undefined || args.text('nights') !== undefined) return inPlaceText(args, purpose);
  return isExport ? scriptText(args, engine) : exampleText(args, engine);
}

/** @throws {ExportError} `usage` for flags that say nothing together */
function requireFitting(args: CommandLine, purpose: (typeof purposes)[number] | undefined): void {
  const isGiven = (flag: string): boolean => (flag === 'views' ? args.isOn(flag) : args.text(flag) !== undefined);
  const firstOf = <Flag extends string>(flags: readonly Flag[]): Flag | undefined => flags.find(isGiven);
  const refuse = (problem: string, todo?: string): ExportError =>
    new ExportError('usage', problem, todo === undefined ? {} : { todo });
  const isInPlace = inPlaceNames.some((name) => name === purpose) || isGiven('nights');
  const isTables = purpose === 'dbt' || isGiven('views');
  const mode = args.text('mode') ?? '';
  if (mode === 'merge' || (mode === 'scd2' && !isTables)) {
    throw refuse(
      `schema prints no script for --mode ${mode}`,
      `DuckDB and PostgreSQL: asset-export load EXPORT --to TARGET --mode ${mode === 'merge' ? 'replace' : mode}\nElsewhere: apply the table changes in the warehouse, or replace the tables with schema --of EXPORT --for NAME.`,
    );
  }
  choiceOf(args, 'mode', scriptModes);
  const needing = firstOf(['mode', 'nights', 'views']);
  if (purpose === undefined && needing !== undefined) {
    throw refuse(`--${needing} needs --for`, `It goes with ${purposesOf[needing].join(', ')}.`);
  }
  if (isGiven('of') && args.words.length > 0) {
    throw refuse(
      '--of takes tables, columns and files from the export, not from a job file',
      'Leave the job file out.',
    );
  }
  const beside = firstOf(['of', 'mode', 'nights', 'views']);
  if (purpose === 'job' && beside !== undefined) throw refuse(`--for job does not go with --${beside}`);
  if (isTables && isGiven('nights')) {
    throw refuse(`${purpose === 'dbt' ? '--for dbt' : '--views'} does not go with --nights`);
  }
  if (purpose === 'dbt' && isGiven('views')) throw refuse('--views needs an engine: dbt prints sources.yml');
  if (isTables && mode === 'replace') {
    throw refuse(
      `--mode replace does not go with ${purpose === 'dbt' ? '--for dbt' : '--views'}, which prints no load`,
      'Leave --mode out. For tables of scd2, use --mode scd2.',
    );
  }
  if (isGiven('cluster') && (isInPlace || isTables || purpose === undefined || purpose === 'job')) {
    throw refuse(
      '--cluster needs the statements of a warehouse',
      'It goes with bigquery, snowflake, clickhouse and redshift.',
    );
  }
  if (isInPlace && !isTables && isGiven('mode')) {
    throw refuse('--mode does not go with engines that read in place: they load nothing');
  }
  if (mode === 'replace' && !isGiven('of')) throw refuse('--mode replace needs --of EXPORT');
  if (isGiven('of') && isGiven('table') && !isInPlace && purpose !== undefined) {
    throw refuse('--table does not go with --of and --for: the script loads all tables together');
  }
}

async function jobSchemaText(): Promise<string> {
  const { jobJsonSchema } = await import('../../../core/job/job-fields.ts');
  return `${JSON.stringify(jobJsonSchema(), undefined, 2)}\n`;
}

/** The view of an engine, or dbt's `sources.yml`. @throws {ExportError} `usage` */
async function analystsText(args: CommandLine, purpose: string): Promise<string> {
  const { schema, prefix } = givenNames(args);
  const isVersions = args.text('mode') === 'scd2';
  const written = args.text('of') === undefined ? layoutOf(args).tables : await tablesOfExport(args);
  // Loads keep no table of changes.
  const tables = written.filter(({ name }) => name !== changesTable.name);
  const engine = [...engineNames, ...inPlaceNames].find((name) => name === purpose);
  if (engine === undefined) return dbtSources(tables, isVersions, prefix, schema);
  return schemaText(engine, schema) + nftView(engine, { tables, prefix, isVersions });
}
