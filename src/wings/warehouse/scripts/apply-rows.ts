import type { Source } from '../../../exports/table-source.ts';
import {
  type ChangedTables,
  type FilledTable,
  insertText,
  mergeStatements,
  scd2Statements,
} from '../change-statements.ts';
import { recordTable } from './record-table.ts';
import type { ScriptStyle, Stage } from './script-style.ts';

/** A table of the export on its way into the warehouse. */
export interface ScriptedTable {
  readonly stage: Stage;
  /** The files that fill the stage, and how many rows they hold. */
  readonly source: Source;
  readonly rows: number;
  /** The column with the id of the asset; undefined where the job left it out. */
  readonly id: string | undefined;
}

/** What a script brings from the stages to the tables. */
export interface ScriptTables {
  /** Folder name of the export. */
  readonly name: string;
  readonly mode: string;
  readonly seal: string;
  readonly base: { readonly name: string; readonly seal: string } | undefined;
  readonly startedAtMs: number | undefined;
  /** The stage of `assets`, or of what changed. */
  readonly assets: ScriptedTable;
  readonly children: readonly ScriptedTable[];
  /** Conditions of every statement that changes rows, beside those of the stages. */
  readonly conditions: readonly string[];
  /** Rows that each table has afterwards, by its name there, where they are known. */
  readonly rowsAfter: Readonly<Record<string, number>>;
}

/** The largest share of deletes that a script takes without a word. */
const mostDeletes = 0.05;

/** Empties the tables and fills them from the stages. */
export function replaceStatements(tables: ScriptTables, style: ScriptStyle): string[] {
  const { quote, swap } = style;
  const { assets, startedAtMs, name } = tables;
  const all = allOf(tables);
  const isNewer = startedAtMs === undefined ? '' : ` OR ${quote('started_at')} > ${style.at(startedAtMs)}`;
  const standing = `${recordsOf(tables, style, `(${quote('mode')} = 'scd2'${isNewer})`)} = 0`;
  const when = `${completeOf(tables, style)} AND ${standing}`;
  const target = quote(assets.stage.target);
  const staged = quote(assets.stage.name);
  // By a join: a subquery behind NOT IN takes quadratic time in PostgreSQL, and one behind NOT EXISTS is not known to ClickHouse.
  const kept =
    assets.id === undefined
      ? String(assets.rows)
      : `(SELECT count(*) FROM ${target} AS t INNER JOIN ${staged} AS s ON t.${quote(assets.id)} = s.${quote(assets.id)})`;
  const lacking = `(SELECT count(*) FROM ${target}) - ${kept}`;
  const stages = all.map(({ stage }) => stage);
  const applied = stages.flatMap((stage) => [
    `DELETE FROM ${quote(stage.target)} WHERE ${when};\n`,
    insertText(filled(stage), style, { from: stage.name, where: when, fixed: [] }),
  ]);
  const done = swap?.done(stages.map((stage) => stage.name));
  return [
    style.require(completeOf(tables, style), `a stage does not hold all rows of ${name}`),
    style.require(standing, `the table ${assets.stage.target} holds versions (scd2) or a newer export than ${name}`),
    ...requireFewDeletes(tables, style, lacking),
    ...(swap?.statements(stages, when) ?? applied),
    ...requireRows(tables, style),
    ...recordWhole(tables, style, done === undefined ? when : `${done} AND ${standing}`),
  ];
}

/** The first versions: every row begins with the export. */
export function firstVersions(tables: ScriptTables, style: ScriptStyle): string[] {
  const { quote } = style;
  const { assets, name, startedAtMs = 0, seal } = tables;
  const at = style.at(startedAtMs);
  const others = `(SELECT count(*) FROM ${quote(assets.stage.target)} WHERE ${quote('valid_from')} <> ${at})`;
  const when = `${completeOf(tables, style)} AND ${recordsOf(tables, style)} = 0 AND ${others} = 0`;
  const isThis = `(${quote('mode')} <> 'scd2' OR ${quote('seal')} IS NULL OR ${quote('seal')} <> ${style.text(seal)})`;
  return [
    style.require(completeOf(tables, style), `a stage does not hold all rows of ${name}`),
    style.require(
      `${recordsOf(tables, style, isThis)} = 0 AND ${others} = 0`,
      `the table ${assets.stage.target} holds another export than ${name}`,
    ),
    ...allOf(tables).flatMap(({ stage }) => [
      deleteOf(stage, style, at, when),
      insertText(filled(stage), style, {
        from: stage.name,
        where: when,
        fixed: [{ column: 'valid_from', value: at }],
      }),
    ]),
    ...requireRows(tables, style),
    ...recordWhole(tables, style, when),
  ];
}

/** Applies what changed since the export that the tables hold. */
export function changeStatements(tables: ScriptTables, style: ScriptStyle): string[] {
  const { quote } = style;
  const { assets, children, mode, base, seal, name, startedAtMs = 0 } = tables;
  const isVersions = mode === 'scd2';
  const at = style.at(startedAtMs);
  const fits = `${quote('mode')} ${isVersions ? '=' : '<>'} 'scd2'`;
  const holds = (text: string): string => `${quote('seal')} ${text}`;
  const target = quote(assets.stage.target);
  const later = `(SELECT count(*) FROM ${target} WHERE ${quote('valid_from')} > ${at} OR ${quote('valid_to')} > ${at}) = 0`;
  const from = style.text(base?.seal ?? '');
  const when = [
    completeOf(tables, style),
    `${recordsOf(tables, style, `${fits} AND ${holds(`= ${from}`)}`)} = 1`,
    ...(isVersions ? [later] : []),
  ].join(' AND ');
  const known = `${fits} AND ${holds(`IN (${from}, ${style.text(seal)})`)}`;
  const ops = (op: string): string =>
    `(SELECT count(*) FROM ${quote(assets.stage.name)} WHERE ${quote('op')} = '${op}')`;
  // The table may have lost rows to a script that was cut.
  const after = tables.rowsAfter[assets.stage.target];
  const changed: ChangedTables = {
    assets: filled(assets.stage, assets.id),
    changes: assets.stage.name,
    children: children.map((child) => ({ ...filled(child.stage), staged: child.stage.name })),
  };
  // Without transactions a part of the rows may be there from a script that was cut.
  const removed = isVersions ? [assets, ...children].map((each) => deleteOf(each.stage, style, at, when)) : [];
  const apply = isVersions ? scd2Statements : mergeStatements;
  return [
    style.require(completeOf(tables, style), `a stage does not hold all rows of ${name}`),
    style.require(
      `${recordsOf(tables, style, known)} = 1`,
      `the table ${assets.stage.target} does not hold ${base?.name ?? ''}, which the changes start from`,
    ),
    ...(isVersions
      ? [style.require(later, `the table ${assets.stage.target} holds rows that are newer than ${name}`)]
      : []),
    ...requireFewDeletes(
      tables,
      style,
      ops('delete'),
      after === undefined ? undefined : `(${after} + ${ops('delete')} - ${ops('insert')})`,
    ),
    ...removed,
    ...apply(changed, { quote, update: style.update, at, when }, 'delete').map(({ sql }) => sql),
    ...requireRows(tables, style),
    recordChanges(tables, style, `${holds(`= ${from}`)} AND ${fits} AND ${completeOf(tables, style)}`),
  ];
}

function allOf({ assets, children }: ScriptTables): ScriptedTable[] {
  return [assets, ...children];
}

/** A table as its stage fills it. */
function filled({ target, columns, added }: Stage, id = 'asset_id'): FilledTable {
  return { name: target, id, columns: columns.map(({ name }) => name).filter((name) => !added.includes(name)) };
}

function deleteOf({ target }: Stage, { quote }: ScriptStyle, at: string, when: string): string {
  return `DELETE FROM ${quote(target)} WHERE ${quote('valid_from')} = ${at} AND ${when};\n`;
}

/** True where every stage holds all its rows, and rows may be changed. */
function completeOf(tables: ScriptTables, { quote }: ScriptStyle): string {
  const complete = allOf(tables).map(({ stage, rows }) => `(SELECT count(*) FROM ${quote(stage.name)}) = ${rows}`);
  return [...complete, ...tables.conditions].join(' AND ');
}

/** How many records of loads the table of assets has, of those for which a condition holds. */
function recordsOf({ assets }: ScriptTables, { quote, text }: ScriptStyle, condition?: string): string {
  const also = condition === undefined ? '' : ` AND ${condition}`;
  return `(SELECT count(*) FROM ${quote(recordTable.name)} WHERE ${quote('table')} = ${text(assets.stage.target)}${also})`;
}

function requireFewDeletes(
  { assets }: ScriptTables,
  style: ScriptStyle,
  deletes: string,
  rows = `(SELECT count(*) FROM ${style.quote(assets.stage.target)})`,
): string[] {
  const message = `more than ${mostDeletes * 100} % of the rows of ${assets.stage.target} would be deleted: check the export`;
  return [
    `-- To allow more deletes, raise ${mostDeletes}.\n${style.require(`${deletes} <= ${mostDeletes} * ${rows}`, message)}`,
  ];
}

/** What the tables must hold before the script commits. */
function requireRows(tables: ScriptTables, style: ScriptStyle): string[] {
  const { quote } = style;
  const isVersions = tables.mode === 'scd2';
  const open = isVersions ? ` WHERE ${quote('valid_to')} IS NULL` : '';
  const ways: Readonly<Record<string, string>> = {
    scd2: 'restore it from a backup',
    replace: 'look for triggers, rules and other writers, and run the script again',
  };
  const way = ways[tables.mode] ?? 'load the export with --mode replace';
  return allOf(tables).flatMap(({ stage: { target } }) => {
    const rows = tables.rowsAfter[target];
    if (rows === undefined) return [];
    return style.require(
      `(SELECT count(*) FROM ${quote(target)}${open}) = ${rows}`,
      `the table ${target} would not hold ${rows} rows, because it was changed: ${way}`,
    );
  });
}

function recordWhole(tables: ScriptTables, style: ScriptStyle, when: string): string[] {
  const { quote, text } = style;
  const loads = quote(recordTable.name);
  const names = ['table', 'seal', 'mode', 'at', 'export', 'rows', ...startColumn(tables)].map(quote).join(', ');
  const rows = allOf(tables).map(({ stage, rows: count }) => {
    const values = [
      text(stage.target),
      text(tables.seal),
      text(tables.mode),
      style.now,
      text(tables.name),
      String(count),
    ];
    return `SELECT ${[...values, ...startOf(tables, style)].join(', ')} FROM (SELECT 1 AS one) AS x WHERE ${when}`;
  });
  // The conditions do not ask for the rows that go.
  const gone = tables.mode === 'scd2' ? [] : [`DELETE FROM ${loads} WHERE ${tablesIn(tables, style)} AND ${when};\n`];
  return [...gone, `INSERT INTO ${loads} (${names})\n${rows.join('\nUNION ALL ')};\n`];
}

function recordChanges(tables: ScriptTables, style: ScriptStyle, when: string): string {
  const { quote, text } = style;
  const counts = Object.entries(tables.rowsAfter).map(([name, rows]) => `WHEN ${text(name)} THEN ${rows}`);
  const set = [
    ['seal', text(tables.seal)],
    ['base_seal', text(tables.base?.seal ?? '')],
    ['mode', text(tables.mode)],
    ['at', style.now],
    ['export', text(tables.name)],
    ...startColumn(tables).map((name) => [name, startOf(tables, style).join('')]),
    ...(counts.length === 0 ? [] : [['rows', `CASE ${quote('table')} ${counts.join(' ')} END`]]),
  ];
  return style.update({
    table: quote(recordTable.name),
    set: set.map(([name = '', value = '']) => `${quote(name)} = ${value}`).join(', '),
    where: `${tablesIn(tables, style)} AND ${when}`,
  });
}

function tablesIn(tables: ScriptTables, { quote, text }: ScriptStyle): string {
  return `${quote('table')} IN (${allOf(tables)
    .map(({ stage }) => text(stage.target))
    .join(', ')})`;
}

function startColumn({ startedAtMs }: ScriptTables): string[] {
  return startedAtMs === undefined ? [] : ['started_at'];
}

function startOf({ startedAtMs }: ScriptTables, style: ScriptStyle): string[] {
  return startedAtMs === undefined ? [] : [style.at(startedAtMs)];
}
