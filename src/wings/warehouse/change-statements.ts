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
  /** Sets a column where a condition holds. */
  readonly update: (set: SetColumn) => string;
  /** The start of the newer export, as an expression. */
  readonly at: string;
}

/** A column that is set where a condition holds; all as SQL. */
export interface SetColumn {
  readonly table: string;
  readonly column: string;
  readonly value: string;
  readonly where: string;
}

/** `UPDATE` as most warehouses take it. */
export function plainUpdate({ table, column, value, where }: SetColumn): string {
  return `UPDATE ${table} SET ${column} = ${value} WHERE ${where};\n`;
}

/** Replaces the changed assets and their child rows. */
export function mergeStatements(tables: ChangedTables, style: ChangeStyle, deletes: DeleteRule): string[] {
  const { quote, update, at } = style;
  const { assets, changes } = tables;
  const gone = deletes === 'delete' ? '' : ` WHERE ${quote('op')} <> 'delete'`;
  const idsOf = (where: string): string => `(SELECT ${quote(assets.id)} FROM ${quote(changes)}${where})`;
  const removed = ({ name, id }: FilledTable): string =>
    `DELETE FROM ${quote(name)} WHERE ${quote(id)} IN ${idsOf(gone)};\n`;
  const lost = idsOf(` WHERE ${quote('op')} = 'delete'`);
  const marked = update({
    table: quote(assets.name),
    column: quote('deleted_at'),
    value: at,
    where: `${quote(assets.id)} IN ${lost}`,
  });
  return [
    removed(assets),
    ...(deletes === 'mark' ? [marked] : []),
    ...inserts(tables, style, []),
    ...tables.children.map(removed),
    ...childInserts(tables, style, []),
  ];
}

/** Closes the open rows of changed assets and adds the new ones. */
export function scd2Statements(tables: ChangedTables, style: ChangeStyle, deletes: DeleteRule): string[] {
  const { quote, update, at } = style;
  const { assets, changes } = tables;
  const kept = deletes === 'keep' ? ` WHERE ${quote('op')} <> 'delete'` : '';
  const ids = `(SELECT ${quote(assets.id)} FROM ${quote(changes)}${kept})`;
  const closed = ({ name, id }: FilledTable): string =>
    update({
      table: quote(name),
      column: quote('valid_to'),
      value: at,
      where: `${quote('valid_to')} IS NULL AND ${quote(id)} IN ${ids}`,
    });
  const times = [{ column: 'valid_from', value: at }];
  return [
    closed(assets),
    ...inserts(tables, style, times),
    ...tables.children.map(closed),
    ...childInserts(tables, style, times),
  ];
}

interface FixedColumn {
  readonly column: string;
  readonly value: string;
}

function inserts({ assets, changes }: ChangedTables, style: ChangeStyle, fixed: readonly FixedColumn[]): string[] {
  return [insertText(assets, style, { from: changes, where: `${style.quote('op')} <> 'delete'`, fixed })];
}

function childInserts(
  { assets, changes, children }: ChangedTables,
  style: ChangeStyle,
  fixed: readonly FixedColumn[],
): string[] {
  const { quote } = style;
  const ids = `(SELECT ${quote(assets.id)} FROM ${quote(changes)} WHERE ${quote('op')} <> 'delete')`;
  return children.map((child) =>
    insertText(child, style, { from: child.staged, where: `${quote(child.id)} IN ${ids}`, fixed }),
  );
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
