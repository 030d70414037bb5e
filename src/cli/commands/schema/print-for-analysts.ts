import { changesTable } from '../../../core/records/columns.ts';
import { dbtSources, dialectNames, inPlaceNames, nftView } from '../../../wings/warehouse/index.ts';
import type { CommandLine } from '../../command.ts';
import { givenNames, schemaText } from './print-statements.ts';
import { layoutOf, tablesOfExport } from './schema-layout.ts';

/** The view of an engine, or dbt's `sources.yml`. @throws {ExportError} `usage` */
export async function analystsText(args: CommandLine, purpose: string): Promise<string> {
  const { schema, prefix } = givenNames(args);
  const isVersions = args.text('mode') === 'scd2';
  const written = args.text('of') === undefined ? layoutOf(args).tables : await tablesOfExport(args);
  // Loads keep no table of changes.
  const tables = written.filter(({ name }) => name !== changesTable.name);
  const engine = [...dialectNames, ...inPlaceNames].find((name) => name === purpose);
  if (engine === undefined) return dbtSources(tables, isVersions, prefix, schema);
  return schemaText(engine, schema) + nftView(engine, { tables, prefix, isVersions });
}
