import type { Source } from '../../../exports/duckdb-files.ts';
import { recordTable } from './record-table.ts';
import type { Check, ScriptStyle, Stage } from './script-style.ts';

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
  /** What else the guard checks, first. */
  readonly checks: readonly Check[];
}

/** The largest share of deletes that a script takes without a word. */
const mostDeletes = 0.05;

/** Fills the tables from the stages, behind one guard. @param gate name of the gate's table */
export function replaceStatements(tables: ScriptTables, style: ScriptStyle, gate: string): string[] {
  const { quote, text } = style;
  const { assets, startedAtMs, name } = tables;
  const all = allOf(tables);
  const target = assets.stage.target;
  const isNewer = startedAtMs === undefined ? 'IS NOT NULL' : `> ${style.at(startedAtMs)}`;
  const standing = `(SELECT count(*) FROM ${quote(recordTable.name)} WHERE ${quote('table')} = ${text(target)} AND (${quote('mode')} = 'scd2' OR ${quote('started_at')} ${isNewer})) = 0`;
  const complete = all.map(({ stage, rows }) => holds(stage.name, rows, style)).join('\n  AND ');
  const guard = [
    ...tables.checks,
    { condition: complete, message: `a stage does not hold all rows of ${name}` },
    { condition: standing, message: `the table ${target} holds versions (scd2) or a newer export than ${name}` },
    fewDeletes(tables, style),
  ];
  const held = all.map(({ stage, rows }) => holds(stage.target, rows, style)).join('\n  AND ');
  const changed = `the tables would not hold the rows of ${name}, because they were changed: look for triggers, rules and other writers, and run the script again`;
  return [
    `-- The guard. To allow more deletes, raise ${mostDeletes}.\n${style.gate.create(gate, guard)}`,
    ...style.swap(
      all.map(({ stage }) => stage),
      gate,
    ),
    style.require([{ condition: held, message: changed }]),
    ...recordWhole(tables, style, gate),
  ];
}

function holds(table: string, rows: number, { quote }: ScriptStyle): string {
  return `(SELECT count(*) FROM ${quote(table)}) = ${rows}`;
}

/** By a join: a subquery behind NOT IN takes quadratic time in PostgreSQL, and one behind NOT EXISTS is not known to ClickHouse. */
function fewDeletes({ assets: { stage, id, rows } }: ScriptTables, { quote }: ScriptStyle): Check {
  const target = quote(stage.target);
  const kept =
    id === undefined
      ? String(rows)
      : `(SELECT count(*) FROM ${target} AS t INNER JOIN ${quote(stage.name)} AS s ON t.${quote(id)} = s.${quote(id)})`;
  return {
    condition: `(SELECT count(*) FROM ${target}) - ${kept} <= ${mostDeletes} * (SELECT count(*) FROM ${target})`,
    message: `more than ${mostDeletes * 100} % of the rows of ${stage.target} would be deleted: check the export`,
  };
}

function allOf({ assets, children }: ScriptTables): ScriptedTable[] {
  return [assets, ...children];
}

function recordWhole(tables: ScriptTables, style: ScriptStyle, gate: string): string[] {
  const { quote, text } = style;
  const { startedAtMs } = tables;
  const all = allOf(tables);
  const names = ['table', 'rows', 'seal', 'mode', 'at', 'export'];
  const values = [text(tables.seal), text('replace'), style.now, text(tables.name)];
  if (startedAtMs !== undefined) {
    names.push('started_at');
    values.push(style.at(startedAtMs));
  }
  const held = all.map(({ stage, rows }) => `SELECT ${text(stage.target)} AS loaded, ${rows} AS held`);
  const own = `${quote('table')} IN (${all.map(({ stage }) => text(stage.target)).join(', ')})`;
  return [
    style.gate.deleteWhere(recordTable.name, own, gate),
    `INSERT INTO ${quote(recordTable.name)} (${names.map(quote).join(', ')})
SELECT loaded, held, ${values.join(', ')} FROM (
  ${held.join('\n  UNION ALL ')}
) AS x${style.gate.from(gate)};
`,
  ];
}
