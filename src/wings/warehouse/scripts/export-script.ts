import { changesTable } from '../../../core/records/columns.ts';
import { isIdColumn, type Table } from '../../../core/records/table.ts';
import type { Source } from '../../../exports/duckdb-files.ts';
import { ExportError } from '../../../lib/export-error.ts';
import { type EngineName, loadStatementFor, noteFor, requireShortTexts } from '../engines.ts';
import type { LoadPlan, LoadTable } from '../load-plan.ts';
import { replaceStatements, type ScriptTables, type ScriptedTable } from './apply-rows.ts';
import { recordTable, stagePrefix } from './record-table.ts';
import { type Stage, styles } from './script-style.ts';

/** What a script is written for. */
export interface ScriptOptions {
  readonly engine: EngineName;
  /** Where the export lies for the warehouse. */
  readonly folder: string;
  readonly schema?: string | undefined;
  /** Columns that the rows of new tables are ordered by, in the tables that have them. */
  readonly cluster?: readonly string[];
}

/** The export whose rows a script brings. */
export interface ScriptExport {
  /** Folder name. */
  readonly name: string;
  /** The tables, their files and the seal. */
  readonly plan: LoadPlan;
  readonly startedAtMs: number | undefined;
}

/**
 * A script that loads an export. It can run twice, and stop anywhere and run again: stages are made anew, and one guard requires
 * that all stages are complete and that the tables hold neither versions nor a newer export. Without it no statement changes a row.
 * @throws {ExportError} `usage` for an export without tables, `notTolerated` for one without assets, or with texts too long for the warehouse
 */
export function exportScript(source: ScriptExport, options: ScriptOptions): string {
  const { engine, schema } = options;
  const style = styles[engine];
  const staged = stagedTables(source, options);
  const stages = staged.map(({ stage }) => stage.name);
  const types = style.requireTypes === undefined ? [] : [`${stages[0] ?? ''}_types`];
  const isSelected = schema === undefined ? undefined : style.inSchema?.(schema);
  const checks = [
    ...(isSelected === undefined ? [] : [{ condition: isSelected, message: 'another schema is the current one' }]),
    ...types.map((name) => ({
      condition: `(SELECT count(*) FROM ${style.quote(name)}) = 0`,
      message: 'a column has a type that would change values',
    })),
  ];
  const tables = { ...scriptTables(source, staged), checks };
  const gate = `${stages[0] ?? ''}_passed`;
  const drops = style.drop([...stages, ...types, ...style.gate.made(stages, gate)]);
  const targets = kept(source.plan).map(({ table }) => table.name);
  const created = createdTables(source, options);
  requireShortTexts(engine, created);
  return [
    `${style.start}${noteFor(engine)}`,
    ...(schema === undefined ? [] : [style.useSchema(schema)]),
    ...created.map((table) => style.createIfAbsent(table, options.cluster ?? [])),
    `-- The rows of the export, in tables of their own.\n${drops}`,
    ...types.map((name) => style.requireTypes?.(created.slice(1), name, schema) ?? ''),
    ...staged.flatMap(({ stage, source: files }) => [style.createStage(stage), loadOf(engine, stage, files)]),
    style.begin(targets),
    ...replaceStatements(tables, style, gate),
    style.commit,
    style.hasTemporaryStages ? '' : drops,
  ]
    .filter((text) => text !== '')
    .join('\n');
}

function loadOf(engine: EngineName, { name, columns }: Stage, source: Source): string {
  return source.files?.length === 0 ? '' : loadStatementFor(engine, { ...source, table: { name, columns } });
}

/** The tables of the warehouse. */
function kept({ tables }: LoadPlan): LoadTable[] {
  return tables.filter(({ name }) => name !== changesTable.name);
}

/** The tables that are there after the script, with the columns and the key. */
function createdTables({ plan }: ScriptExport, { engine }: ScriptOptions): Table[] {
  const hasKeys = engine === 'postgres';
  const loads = hasKeys || engine === 'duckdb' ? { ...recordTable, key: ['table'] } : recordTable;
  const own = kept(plan).map(({ name, table }): Table => {
    const key = name === 'assets' ? table.columns.filter(isIdColumn).map((column) => column.name) : childKey;
    return { ...table, ...(hasKeys && key.length > 0 ? { key } : {}) };
  });
  return [loads, ...own];
}

const childKey = ['asset_id', 'position'];

/** The stages of a script. */
function stagedTables({ plan }: ScriptExport, { engine, folder }: ScriptOptions): ScriptedTable[] {
  const { format, csvDialect, prefix } = plan;
  // Names of 63 bytes would be cut in PostgreSQL.
  const own = styles[engine].hasTemporaryStages ? '' : prefix;
  return kept(plan).map(({ name, table, files, rows }) => ({
    rows,
    id: name === 'assets' ? table.columns.find(isIdColumn)?.name : 'asset_id',
    stage: { name: `${stagePrefix}${own}${name}`, columns: table.columns, target: table.name },
    source: { table, format, folder, csvDialect, files: files.map(({ path }) => path) },
  }));
}

function scriptTables(
  { name, plan, startedAtMs }: ScriptExport,
  staged: readonly ScriptedTable[],
): Omit<ScriptTables, 'checks'> {
  const isAssets = ({ stage }: ScriptedTable): boolean => stage.target === `${plan.prefix}assets`;
  const assets = staged.find(isAssets) ?? staged[0];
  if (assets === undefined) {
    throw new ExportError('usage', 'this export has no table that a script loads', {
      todo: 'Export the table assets, or name another export with --of.',
    });
  }
  if (isAssets(assets) && assets.rows === 0) throw isEmpty(name);
  return { name, seal: plan.seal, startedAtMs, assets, children: staged.filter((each) => each !== assets) };
}

function isEmpty(name: string): ExportError {
  return new ExportError('notTolerated', `${name} has no assets: a script would empty the tables`, {
    todo: 'Check the ids of the export.',
  });
}
