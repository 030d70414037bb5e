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
  /** The start of the newer export, as an expression. */
  readonly at: string;
}

/** A statement that changes rows of a table. */
export interface CountedChange {
  readonly table: string;
  readonly sql: string;
  /** The rows that it changes, behind FROM; counted before it runs. */
  readonly rows: string;
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
  { quote }: ChangeStyle,
  deletes: DeleteRule,
): CountedChange {
  const kept = deletes === 'delete' ? '' : ` WHERE ${quote('op')} <> 'delete'`;
  const ids = `(SELECT ${quote(assets.id)} FROM ${quote(changes)}${kept})`;
  const rows = `${quote(name)} WHERE ${quote(id)} IN ${ids}`;
  return { table: name, sql: `DELETE FROM ${rows};\n`, rows };
}

/** Closes the open rows of changed assets that began before, and adds the new ones. */
export function scd2Statements(tables: ChangedTables, style: ChangeStyle, deletes: DeleteRule): CountedChange[] {
  const { quote, at } = style;
  const { assets, changes } = tables;
  const kept = deletes === 'keep' ? ` WHERE ${quote('op')} <> 'delete'` : '';
  const ids = `(SELECT ${quote(assets.id)} FROM ${quote(changes)}${kept})`;
  const closed = ({ name, id }: FilledTable): CountedChange => {
    const where = `${quote('valid_to')} IS NULL AND ${quote('valid_from')} < ${at} AND ${quote(id)} IN ${ids}`;
    const sql = `UPDATE ${quote(name)} SET ${quote('valid_to')} = ${at} WHERE ${where};\n`;
    return { table: name, sql, rows: `${quote(name)} WHERE ${where}` };
  };
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

function inserts(
  { assets, changes }: ChangedTables,
  style: ChangeStyle,
  fixed: readonly FixedColumn[],
): CountedChange[] {
  const where = `${style.quote('op')} <> 'delete'`;
  return [inserted(assets, style, { from: changes, where, fixed })];
}

function childInserts(
  { assets, changes, children }: ChangedTables,
  style: ChangeStyle,
  fixed: readonly FixedColumn[],
): CountedChange[] {
  const { quote } = style;
  const ids = `(SELECT ${quote(assets.id)} FROM ${quote(changes)} WHERE ${quote('op')} <> 'delete')`;
  return children.map((child) =>
    inserted(child, style, { from: child.staged, where: `${quote(child.id)} IN ${ids}`, fixed }),
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
  table: Pick<FilledTable, 'name' | 'columns'>,
  { quote }: Pick<ChangeStyle, 'quote'>,
  { from, where, fixed }: InsertSource,
): string {
  const names = table.columns.map(quote);
  const into = [...names, ...fixed.map(({ column }) => quote(column))].join(', ');
  const values = [...names, ...fixed.map(({ value }) => value)].join(', ');
  return `INSERT INTO ${quote(table.name)} (${into})\nSELECT ${values} FROM ${quote(from)}${where === undefined ? '' : ` WHERE ${where}`};\n`;
}
