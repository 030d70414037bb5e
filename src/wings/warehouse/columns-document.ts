import type { Column, Table } from '../../core/records/table.ts';

/** The columns of tables as Markdown: what `schema` prints and docs/columns.md holds. */
export function columnsDocument(tables: readonly Table[]): string {
  return tables.map(tableSection).join('\n');
}

function tableSection(table: Table): string {
  const rows = table.columns.map(
    (column) => `| \`${column.name}\` | ${typeName(column)} | ${sourceOf(table, column)} | ${about(column)} |\n`,
  );
  return `## ${table.name}\n\n${rowMeaning(table)}\n\n| column | type | from | holds |\n|---|---|---|---|\n${rows.join('')}`;
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

function sourceOf({ list }: Table, column: Column): string {
  if (column.path.length === 0) return '';
  return `\`${list === undefined ? '' : `${list.join('.')}[].`}${column.path.join('.')}\``;
}

function about({ about: text, values }: Column): string {
  return values === undefined ? text : `${text} Specified: ${values.map((value) => `\`${value}\``).join(', ')}.`;
}
