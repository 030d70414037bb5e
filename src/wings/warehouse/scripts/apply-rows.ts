import type { Source } from '../../../exports/table-source.ts';
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
  readonly seal: string;
  readonly startedAtMs: number | undefined;
  /** The stage of `assets`; of another table where the job left it out. */
  readonly assets: ScriptedTable;
  readonly children: readonly ScriptedTable[];
  /** Conditions of every statement that changes rows, beside those of the stages. */
  readonly conditions: readonly string[];
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
    insertText(stage, style, when),
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

function allOf({ assets, children }: ScriptTables): ScriptedTable[] {
  return [assets, ...children];
}

function insertText({ target, name, columns }: Stage, { quote }: ScriptStyle, when: string): string {
  const names = columns.map((column) => quote(column.name)).join(', ');
  return `INSERT INTO ${quote(target)} (${names})\nSELECT ${names} FROM ${quote(name)} WHERE ${when};\n`;
}

/** True where every stage holds all its rows, and rows may be changed. */
function completeOf(tables: ScriptTables, { quote }: ScriptStyle): string {
  const complete = allOf(tables).map(({ stage, rows }) => `(SELECT count(*) FROM ${quote(stage.name)}) = ${rows}`);
  return [...complete, ...tables.conditions].join(' AND ');
}

/** How many records of loads the table of assets has, of those for which a condition holds. */
function recordsOf({ assets }: ScriptTables, { quote, text }: ScriptStyle, condition: string): string {
  return `(SELECT count(*) FROM ${quote(recordTable.name)} WHERE ${quote('table')} = ${text(assets.stage.target)} AND ${condition})`;
}

function requireFewDeletes({ assets }: ScriptTables, style: ScriptStyle, deletes: string): string[] {
  const rows = `(SELECT count(*) FROM ${style.quote(assets.stage.target)})`;
  const message = `more than ${mostDeletes * 100} % of the rows of ${assets.stage.target} would be deleted: check the export`;
  return [
    `-- To allow more deletes, raise ${mostDeletes}.\n${style.require(`${deletes} <= ${mostDeletes} * ${rows}`, message)}`,
  ];
}

/** What the tables must hold before the script commits. */
function requireRows(tables: ScriptTables, style: ScriptStyle): string[] {
  return allOf(tables).map(({ stage: { target }, rows }) =>
    style.require(
      `(SELECT count(*) FROM ${style.quote(target)}) = ${rows}`,
      `the table ${target} would not hold ${rows} rows, because it was changed: look for triggers, rules and other writers, and run the script again`,
    ),
  );
}

function recordWhole(tables: ScriptTables, style: ScriptStyle, when: string): string[] {
  const { quote, text } = style;
  const loads = quote(recordTable.name);
  const names = ['table', 'seal', 'mode', 'at', 'export', 'rows', ...startColumn(tables)].map(quote).join(', ');
  const rows = allOf(tables).map(({ stage, rows: count }) => {
    const values = [
      text(stage.target),
      text(tables.seal),
      text('replace'),
      style.now,
      text(tables.name),
      String(count),
    ];
    return `SELECT ${[...values, ...startOf(tables, style)].join(', ')} FROM (SELECT 1 AS one) AS x WHERE ${when}`;
  });
  // The conditions do not ask for the rows that go.
  return [
    `DELETE FROM ${loads} WHERE ${tablesIn(tables, style)} AND ${when};\n`,
    `INSERT INTO ${loads} (${names})\n${rows.join('\nUNION ALL ')};\n`,
  ];
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
