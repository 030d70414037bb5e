import { changeColumns, changesTable } from '../../../core/records/columns.ts';
import { isIdColumn, type Table } from '../../../core/records/table.ts';
import type { Source } from '../../../exports/table-source.ts';
import { ExportError } from '../../../lib/export-error.ts';
import { requireFreeNames } from '../reserved-names.ts';
import { validColumns, versionNames } from '../valid-columns.ts';
import { type DialectName, loadStatementFor, noteFor } from '../dialects.ts';
import type { LoadPlan, LoadTable } from '../load-plan.ts';
import {
  changeStatements,
  firstVersions,
  replaceStatements,
  type ScriptTables,
  type ScriptedTable,
} from './apply-rows.ts';
import { recordTable, stagePrefix } from './record-table.ts';
import { type ScriptStyle, type Stage, styles } from './script-style.ts';

export const scriptModes = ['replace', 'merge', 'scd2'] as const;
export type ScriptMode = (typeof scriptModes)[number];

/** What a script is written for. */
export interface ScriptOptions {
  readonly dialect: DialectName;
  readonly mode: ScriptMode;
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
  /** The export that its changes were made from. */
  readonly base: { readonly name: string; readonly seal: string } | undefined;
  readonly startedAtMs: number | undefined;
  /** Rows that each table has after the changes of a diff, where they are known. */
  readonly rowsAfter: Readonly<Record<string, number>>;
}

/**
 * A script that loads an export. It can run twice, and stop anywhere and run again: stages are made anew, and each statement that
 * changes rows carries the condition that all stages are complete and that the tables hold what the mode needs.
 * @throws {ExportError} `usage` when the export cannot be loaded in this mode
 */
export function exportScript(source: ScriptExport, options: ScriptOptions): string {
  const { dialect, mode, schema } = options;
  const style = styles[dialect];
  const staged = stagedTables(source, options);
  const stages = staged.map(({ stage }) => stage.name);
  const types = style.requireTypes === undefined ? [] : [`${stages[0] ?? ''}_types`];
  const selected = schema === undefined ? undefined : style.inSchema?.(schema);
  const conditions = [
    ...types.map((name) => `(SELECT count(*) FROM ${style.quote(name)}) = 0`),
    ...(selected === undefined ? [] : [selected]),
  ];
  const tables = { ...scriptTables(source, options, staged), conditions };
  const helpers = [...stages, ...types, ...(mode === 'replace' ? (style.swap?.made(stages) ?? []) : [])];
  const drops = helpers.map(style.dropIfThere);
  const apply = { replace: replaceStatements, merge: changeStatements, scd2: scd2Statements }[mode];
  const targets = kept(source.plan).map(({ table }) => table.name);
  const created = createdTables(source, options);
  return [
    `${style.start}${noteFor(dialect)}`,
    ...(schema === undefined ? [] : [style.useSchema(schema)]),
    ...created.map((table) => style.createIfAbsent(table, options.cluster ?? [])),
    '-- The rows of the export, in tables of their own.\n',
    ...drops,
    ...types.map((name) => style.requireTypes?.(created.slice(1), name, schema) ?? ''),
    ...staged.flatMap(({ stage, source: files }) => [style.createStage(stage), loadOf(dialect, stage, files)]),
    style.begin(targets),
    ...apply(tables, style),
    style.commit,
    ...drops,
  ]
    .filter((text) => text !== '')
    .join('\n');
}

function scd2Statements(tables: ScriptTables, style: ScriptStyle): string[] {
  return tables.base === undefined ? firstVersions(tables, style) : changeStatements(tables, style);
}

function loadOf(dialect: DialectName, { name, columns }: Stage, source: Source): string {
  return source.files?.length === 0 ? '' : loadStatementFor(dialect, { ...source, table: { name, columns } });
}

/** The tables of the warehouse. */
function kept({ tables }: LoadPlan): LoadTable[] {
  return tables.filter(({ name }) => name !== changesTable.name);
}

/** The tables that are there after the script, with the columns and the key that the mode needs. */
function createdTables({ plan }: ScriptExport, { dialect, mode }: ScriptOptions): Table[] {
  const hasKeys = dialect === 'postgres';
  const versions = mode === 'scd2' ? validColumns : [];
  const loads = hasKeys || dialect === 'duckdb' ? { ...recordTable, key: ['table'] } : recordTable;
  const own = kept(plan).map(({ name, table }): Table => {
    const id = name === 'assets' ? table.columns.filter(isIdColumn).map((column) => column.name) : childKey;
    const key = [...id, ...versions.slice(0, 1).map((column) => column.name)];
    const columns = [...table.columns, ...versions];
    return { ...table, columns, ...(hasKeys && id.length > 0 ? { key } : {}) };
  });
  return [loads, ...own];
}

const childKey = ['asset_id', 'position'];

/** The stages of a script: all tables, or what changed. */
function stagedTables({ plan, base }: ScriptExport, { dialect, mode, folder }: ScriptOptions): ScriptedTable[] {
  const isChanges = mode === 'merge' || (mode === 'scd2' && base !== undefined);
  const { format, csvDialect, prefix } = plan;
  // Names of 63 bytes would be cut in PostgreSQL.
  const own = styles[dialect].hasTemporaryStages === true ? '' : prefix;
  return plan.tables
    .filter(({ name }) => name !== (isChanges ? 'assets' : changesTable.name))
    .map(({ name, table, files, rows }) => {
      const isAssets = name === 'assets' || name === changesTable.name;
      return {
        rows,
        id: isAssets ? table.columns.find(isIdColumn)?.name : 'asset_id',
        stage: {
          name: `${stagePrefix}${own}${name}`,
          columns: table.columns,
          target: isAssets ? `${prefix}assets` : table.name,
          added: name === changesTable.name ? changeColumns : [],
        },
        source: { table, format, folder, csvDialect, files: files.map(({ path }) => path) },
      };
    });
}

function scriptTables(
  { name, plan, base, startedAtMs, rowsAfter }: ScriptExport,
  { mode }: ScriptOptions,
  staged: readonly ScriptedTable[],
): Omit<ScriptTables, 'conditions'> {
  const isAssets = ({ stage }: ScriptedTable): boolean => stage.target === `${plan.prefix}assets`;
  const assets = staged.find(isAssets) ?? (mode === 'replace' ? staged[0] : undefined);
  if (assets === undefined) throw noTable(mode === 'replace' ? 'assets' : 'changes', mode);
  if (mode !== 'replace' && assets.id === undefined) {
    throw new ExportError(
      'usage',
      `--mode ${mode} needs the column id of the table assets, which this export does not have`,
      {
        todo: 'Export the table assets with the column id, or use --mode replace.',
      },
    );
  }
  if (mode === 'scd2') {
    const names = assets.stage.columns.map((column) => column.name);
    requireFreeNames(name, names, versionNames, '--mode scd2');
  }
  if (mode === 'scd2' && startedAtMs === undefined) throw noStart(name);
  if (mode === 'merge' && base === undefined) throw noTable('changes', mode);
  if (isAssets(assets) && assets.stage.added.length === 0 && assets.rows === 0) throw isEmpty(name, mode);
  return {
    name,
    mode,
    seal: plan.seal,
    base,
    startedAtMs,
    assets,
    children: staged.filter((each) => each !== assets),
    rowsAfter,
  };
}

function noTable(table: string, mode: ScriptMode): ExportError {
  return new ExportError('usage', `this export has no table ${table}, which --mode ${mode} needs`, {
    todo:
      table === 'assets'
        ? 'Export the table assets, or name another export with --of.'
        : 'Compare it with the export that the tables hold (asset-export diff OLDER NEWER --out DIR) and use --of DIR, or --mode replace.',
  });
}

function noStart(name: string): ExportError {
  return new ExportError(
    'usage',
    `${name} does not say when it began: it has neither runs.jsonl nor a column of times`,
    {
      todo: 'Export with output.exportedAt: true, or with base.from.',
    },
  );
}

function isEmpty(name: string, mode: ScriptMode): ExportError {
  return new ExportError('notTolerated', `${name} has no assets: a script with --mode ${mode} would empty the tables`, {
    todo: 'Check the ids of the export.',
  });
}
