import type { Column, Table } from '../../core/records/table.ts';

/** The columns of tables as Markdown: what `schema` prints and docs/columns.md holds. */
export function columnsDocument(tables: readonly Table[]): string {
  return [...tables.map(tableSection), ...sharedSection(tables)].join('\n');
}

function tableSection(table: Table): string {
  const own = table.columns.filter((column) => table.list === undefined || !isShared(column));
  return `## ${table.name}\n\n${rowMeaning(table)}\n\n${columnLines(table, own)}`;
}

function sharedSection(tables: readonly Table[]): string[] {
  const [first] = tables.filter(({ list }) => list !== undefined);
  if (first === undefined) return [];
  return [
    `## Every table of a list\n\nTo its own columns each adds:\n\n${columnLines(first, first.columns.filter(isShared))}`,
  ];
}

/** The first two columns and the last one of each table of a list. */
function isShared({ name }: Column): boolean {
  return name === 'asset_id' || name === 'position' || name === 'extra';
}

function columnLines(table: Table, columns: readonly Column[]): string {
  return columns.map((column) => `- \`${column.name}\` (${typeName(column)}): ${about(table, column)}\n`).join('');
}

function rowMeaning({ list, where }: Table): string {
  if (list === undefined) return 'One row per record.';
  if (where !== undefined) {
    return `One row per element of \`${list.join('.')}\` whose \`${where.member}\` is \`${where.value}\`.`;
  }
  return `One row per element of \`${list.join('.')}\`, in its order.`;
}

function typeName(column: Column): string {
  const type = column.type === 'decimal' ? 'decimal(20,0)' : column.type;
  return column.nullable ? type : `${type}, never null`;
}

function about(table: Table, column: Column): string {
  const { about: text, values = [] } = column;
  const specified = values.length === 0 ? [] : [`Specified: ${values.map((value) => `\`${value}\``).join(', ')}.`];
  return [...sourceOf(table, column), text, ...specified].join(' ');
}

/** The path of a column whose name is not that path with `_` for each `.`. */
function sourceOf({ list }: Table, { path, name }: Column): string[] {
  if (path.length === 0 || path.join('_') === name) return [];
  return [`\`${list === undefined ? '' : `${list.join('.')}[].`}${path.join('.')}\`.`];
}
