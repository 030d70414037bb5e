import { basename, resolve } from 'node:path';
import { within } from '../../../exports/table-source.ts';
import type { Table } from '../../../core/records/table.ts';
import { ExportError } from '../../../lib/export-error.ts';
import {
  dialectNames,
  inPlaceNames,
  inPlaceNights,
  inPlaceTable,
  nightsAddress,
  nightsView,
} from '../../../wings/warehouse/index.ts';
import type { CommandLine } from '../../command.ts';
import { exportAddress } from '../../export-place.ts';
import { givenFolder, givenNames, schemaText } from './print-statements.ts';
import { layoutOf, tablesOfExport } from './schema-layout.ts';

/** Where an export may lie for an engine that reads in place, to fill in. */
const exampleFolder = 's3://bucket/out';
const exampleFirst = '2026-01-01';

/** Tables over the files of an export, or of every night, for an engine that reads them in place. @throws {ExportError} `usage` */
export async function inPlaceText(args: CommandLine, engine: string): Promise<string> {
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
  const isWarehouse = dialectNames.some((name) => name === engine);
  const isBigquery = engine === 'bigquery';
  const why = isBigquery ? ': its addresses take one asterisk' : '';
  const loads = `Load each night: asset-export schema --of EXPORT --for ${engine}.`;
  const lake = ' Or read every night as Iceberg tables: asset-export lake ROOT --for bigquery.';
  return new ExportError('usage', `--nights does not go with --for ${engine}${why}`, {
    todo: isWarehouse ? `${loads}${isBigquery ? lake : ''}` : 'Name an engine with --for.',
  });
}
