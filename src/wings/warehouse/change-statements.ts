/** What becomes of assets that the newer export does not have. */
export const deleteRules = ['delete', 'keep', 'mark'] as const;
export type DeleteRule = (typeof deleteRules)[number];

/** A table, and the names of the columns that an export fills. */
export interface FilledTable {
  readonly name: string;
  readonly columns: readonly string[];
  /** The id of the asset that a row belongs to. */
  readonly id: string;
}

/** The tables that changes are applied to. */
export interface ChangedTables {
  readonly assets: FilledTable;
  /** The table that holds the rows of `changes`. */
  readonly changes: string;
  /** Child tables, and the tables that hold the rows of the newer export. */
  readonly children: readonly (FilledTable & { readonly staged: string })[];
}

/** How a warehouse writes the statements. */
export interface ChangeStyle {
  readonly quote: (name: string) => string;
  /** Sets columns where a condition holds. */
  readonly update: (update: Update) => string;
  /** The start of the newer export, as an expression. */
  readonly at: string;
  /** Without it no statement changes a row. */
  readonly when?: string;
}

/** Columns that are set where a condition holds; all as SQL. */
export interface Update {
  readonly table: string;
  /** `column = value, …` */
  readonly set: string;
  readonly where: string;
}

/** `UPDATE` as most warehouses take it. */
export function plainUpdate({ table, set, where }: Update): string {
  return `UPDATE ${table} SET ${set} WHERE ${where};\n`;
}

/** A statement that changes rows of a table. */
export interface CountedChange {
  readonly table: string;
  readonly sql: string;
  /** The rows that it changes, behind FROM; counted before it runs. */
  readonly rows: string;
}

function both(condition: string, when: string | undefined): string {
  return when === undefined ? condition : `${condition} AND ${when}`;
}

/** Replaces the changed assets and their child rows. */
export function mergeStatements(tables: ChangedTables, style: ChangeStyle): CountedChange[] {
  return [
    removed(tables.assets, tables, style, 'delete'),
    ...inserts(tables, style, []),
    ...mergeChildren(tables, style, 'delete'),
  ];
}

/** Replaces the child rows of changed assets. */
export function mergeChildren(tables: ChangedTables, style: ChangeStyle, deletes: DeleteRule): CountedChange[] {
  return [
    ...tables.children.map((child) => removed(child, tables, style, deletes)),
    ...childInserts(tables, style, []),
  ];
}

/** Removes the rows of changed assets. */
function removed(
  { name, id }: FilledTable,
  { assets, changes }: ChangedTables,
  { quote, when }: ChangeStyle,
  deletes: DeleteRule,
): CountedChange {
  const kept = deletes === 'delete' ? '' : ` WHERE ${quote('op')} <> 'delete'`;
  const ids = `(SELECT ${quote(assets.id)} FROM ${quote(changes)}${kept})`;
  const rows = `${quote(name)} WHERE ${both(`${quote(id)} IN ${ids}`, when)}`;
  return { table: name, sql: `DELETE FROM ${rows};\n`, rows };
}

/** Closes the open rows of changed assets that began before, and adds the new ones. */
export function scd2Statements(tables: ChangedTables, style: ChangeStyle, deletes: DeleteRule): CountedChange[] {
  const { quote, at, when } = style;
  const { assets, changes } = tables;
  const kept = deletes === 'keep' ? ` WHERE ${quote('op')} <> 'delete'` : '';
  const ids = `(SELECT ${quote(assets.id)} FROM ${quote(changes)}${kept})`;
  const closed = ({ name, id }: FilledTable): CountedChange =>
    updated(style, {
      table: name,
      set: `${quote('valid_to')} = ${at}`,
      where: both(`${quote('valid_to')} IS NULL AND ${quote('valid_from')} < ${at} AND ${quote(id)} IN ${ids}`, when),
    });
  const times = [{ column: 'valid_from', value: at }];
  return [
    closed(assets),
    ...inserts(tables, style, times),
    ...tables.children.map(closed),
    ...childInserts(tables, style, times),
  ];
}

/** @param change with the bare name of its table */
function updated({ quote, update }: ChangeStyle, change: Update): CountedChange {
  const table = quote(change.table);
  return { table: change.table, sql: update({ ...change, table }), rows: `${table} WHERE ${change.where}` };
}

interface FixedColumn {
  readonly column: string;
  readonly value: string;
}

function inserts(
  { assets, changes }: ChangedTables,
  style: ChangeStyle,
  fixed: readonly FixedColumn[],
): CountedChange[] {
  const where = both(`${style.quote('op')} <> 'delete'`, style.when);
  return [inserted(assets, style, { from: changes, where, fixed })];
}

function childInserts(
  { assets, changes, children }: ChangedTables,
  style: ChangeStyle,
  fixed: readonly FixedColumn[],
): CountedChange[] {
  const { quote, when } = style;
  const ids = `(SELECT ${quote(assets.id)} FROM ${quote(changes)} WHERE ${quote('op')} <> 'delete')`;
  return children.map((child) =>
    inserted(child, style, { from: child.staged, where: both(`${quote(child.id)} IN ${ids}`, when), fixed }),
  );
}

function inserted(
  table: FilledTable,
  style: ChangeStyle,
  source: InsertSource & { readonly where: string },
): CountedChange {
  const rows = `${style.quote(source.from)} WHERE ${source.where}`;
  return { table: table.name, sql: insertText(table, style, source), rows };
}

export interface InsertSource {
  readonly from: string;
  readonly where?: string;
  /** Columns that have one value in all rows. */
  readonly fixed: readonly FixedColumn[];
}

export function insertText(
  table: FilledTable,
  { quote }: Pick<ChangeStyle, 'quote'>,
  { from, where, fixed }: InsertSource,
): string {
  const names = table.columns.map(quote);
  const into = [...names, ...fixed.map(({ column }) => quote(column))].join(', ');
  const values = [...names, ...fixed.map(({ value }) => value)].join(', ');
  return `INSERT INTO ${quote(table.name)} (${into})\nSELECT ${values} FROM ${quote(from)}${where === undefined ? '' : ` WHERE ${where}`};\n`;
}
