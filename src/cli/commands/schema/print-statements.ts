import type { Table } from '../../../core/records/table.ts';
import { csvDialectNames, type CsvDialectName } from '../../../core/formats/sink.ts';
import { requireAddress } from '../../../lib/addresses/address.ts';
import { backQuoted, doubleQuoted } from '../../../lib/sql-text.ts';
import { shownWord } from '../../../lib/addresses/shown-text.ts';
import { ExportError } from '../../../lib/export-error.ts';
import { type TableFormat, within } from '../../../exports/duckdb-files.ts';
import { openFinished } from '../../../exports/finished-export.ts';
import { programVersion } from '../../../lib/packages/package-root.ts';
import {
  commentsFor,
  engineNames,
  selectSchema,
  ddlFor,
  type EngineName,
  exampleFolders,
  exportScript,
  hasClusters,
  loadStatementFor,
  noteFor,
  scriptExportOf,
  requireCluster,
  scriptHeading,
  viewNames,
  wholeView,
} from '../../../wings/warehouse/index.ts';
import { requireNames } from '../../../wings/load/index.ts';
import type { CommandLine } from '../../command.ts';
import { exportPlace } from '../../export-place.ts';
import { type Layout, layoutOf, shortPath } from './schema-layout.ts';

const exampleNote =
  '-- An example: files, folder, counts, seals and times are placeholders. For one export: schema --of EXPORT.\n';

/** The statements for an example: what creates and loads each table. */
export function exampleText(args: CommandLine, engine: EngineName): string {
  const layout = layoutOf(args);
  const { prefix } = givenNames(args);
  const folder = givenFolder(args) ?? layout.folder ?? exampleFolders[engine];
  const cluster = clusterOf(args, engine, layout.tables);
  const texts = layout.tables.map((table) => statementsOf(table, engine, { ...layout, folder, cluster }, prefix));
  return `${exampleNote}${noteFor(engine)}\n${texts.join('\n')}`;
}

/** The script for the export that `--of` names. */
export async function scriptText(args: CommandLine, engine: EngineName): Promise<string> {
  const place = await exportPlace(args.text('of') ?? '', args);
  const finished = await openFinished(place.folder, place.files);
  const { schema, prefix } = givenNames(args);
  const folder = givenFolder(args) ?? shortPath(place.folder, args.terminal.cwd());
  requireReachable(engine, folder);
  const source = scriptExportOf(finished, engine, prefix);
  const tables = source.plan.tables.map(({ table }) => table);
  const cluster = clusterOf(args, engine, tables);
  return `${scriptHeading(source, programVersion())}${exportScript(source, { engine, folder, schema, cluster })}`;
}

/** `--cluster`. @throws {ExportError} `usage` where a warehouse has no such order, or no table has a column */
function clusterOf(args: CommandLine, engine: EngineName, tables: readonly Table[]): string[] {
  const text = args.text('cluster');
  if (text === undefined) return [];
  if (!hasClusters(engine)) {
    const able = engineNames.filter(hasClusters).join(', ');
    throw new ExportError('usage', `--cluster does not go with --for ${engine}`, { todo: `It goes with ${able}.` });
  }
  const names = text.split(',').map((name) => name.trim());
  const known = tables.flatMap(({ columns }) => columns.map(({ name }) => name));
  const unknown = names.find((name) => !known.includes(name));
  if (unknown === undefined) {
    requireCluster(engine, tables, names);
    return names;
  }
  throw new ExportError('usage', `--cluster names the column ${shownWord(unknown)}, which no table has`, {
    todo: 'Columns: asset-export schema.',
  });
}

/** Where each warehouse reads files from. */
const reached: Readonly<Record<EngineName, { readonly pattern: RegExp; readonly places: string }>> = {
  duckdb: { pattern: /^/, places: '' },
  postgres: {
    pattern: /^(?!s3:|gs:|az:|@)/,
    places: 'folders of the machine that psql runs on: copy the export there',
  },
  bigquery: { pattern: /^gs:\/\//, places: 'Cloud Storage: --folder gs://bucket/export' },
  snowflake: { pattern: /^(@|s3:|gs:|az:)/, places: 'a stage or a bucket: --folder @stage/export' },
  clickhouse: { pattern: /^(?!@)/, places: 'folders and buckets' },
  redshift: { pattern: /^s3:\/\//, places: 'S3: --folder s3://bucket/export' },
};

/** @throws {ExportError} `usage` */
function requireReachable(engine: EngineName, folder: string): void {
  const { pattern, places } = reached[engine];
  if (pattern.test(folder)) return;
  throw new ExportError('usage', `${engine} cannot read ${folder}`, { todo: `It reads ${places}.` });
}

/** `--schema` and `--prefix`. @throws {ExportError} `usage` */
export function givenNames(args: CommandLine): { schema: string | undefined; prefix: string } {
  const names = { schema: args.text('schema'), prefix: args.text('prefix') ?? '' };
  requireNames(names);
  return names;
}

/** `--folder`. @throws {ExportError} `usage` */
export function givenFolder(args: CommandLine): string | undefined {
  const given = args.text('folder');
  return given === undefined ? undefined : requireAddress(given, 'warehouse', '--folder');
}

function statementsOf(
  whole: Table,
  engine: EngineName,
  { formats, folder = '', csvDialect, codecs, cluster }: Layout,
  prefix: string,
): string {
  const own = (csvDialectNames as readonly string[]).includes(engine) ? (engine as CsvDialectName) : 'rfc4180';
  const forms: readonly CsvDialectName[] =
    csvDialect === undefined ? [...new Set(['rfc4180', own] as const)] : [csvDialect];
  const table = { ...whole, name: prefix + whole.name };
  const loadOf = (format: TableFormat, name?: CsvDialectName): string => {
    const text = loadStatementFor(engine, {
      table,
      format,
      folder,
      ...(name === undefined ? {} : { csvDialect: name }),
      ...(format === 'parquet' ? {} : { codec: codecs?.[format] }),
    });
    return prefix === '' ? text : text.replaceAll(`/${table.name}/`, `/${whole.name}/`);
  };
  const loads = formats.flatMap((format) =>
    format === 'csv'
      ? forms.map((name) => `-- load: csv, written with csv.dialect: ${name}\n${loadOf(format, name)}`)
      : [`-- load: ${format}\n${loadOf(format)}`],
  );
  const viewed = viewNames.find((name) => name === engine);
  const inPlace =
    viewed === undefined || !formats.includes('parquet')
      ? []
      : [
          `-- in place, instead of a table and a load:\n${wholeView(viewed, table, within(folder, `parquet/${whole.name}/`))}`,
        ];
  return [ddlFor(engine, table, cluster) + commentsFor(engine, table), ...loads, ...inPlace].join('\n');
}

/** Makes the schema of `--schema` the current one. @throws {ExportError} `usage` where no statement does */
export function schemaText(purpose: string, schema: string | undefined): string {
  if (schema === undefined) return '';
  const engine = engineNames.find((name) => name === purpose);
  if (engine !== undefined) return selectSchema(engine, schema);
  if (purpose !== 'athena') return `USE ${purpose === 'trino' ? doubleQuoted(schema) : backQuoted(schema)};\n`;
  throw new ExportError('usage', '--schema does not go with --for athena', {
    todo: 'Select the database where you run the statements.',
  });
}
