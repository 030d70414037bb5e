import { assetsTable } from '../../src/records/columns.ts';
import type { Column } from '../../src/records/table.ts';

/** Members by name: each a column, or an object in its turn. */
interface Members {
  readonly byName: Map<string, Column | Members>;
}

/** Types as they stand in the records, before any check. */
const types: Readonly<Record<Column['type'], string>> = {
  string: 'VARCHAR',
  boolean: 'BOOLEAN',
  int64: 'BIGINT',
  double: 'DOUBLE',
  decimal: 'DECIMAL(20, 0)',
  json: 'JSON',
  timestamp: 'TIMESTAMPTZ',
};

/**
 * The statement by which DuckDB makes Parquet of records, one JSON object a line: the columns of `assets` that a member fills
 * (it makes no `collection` and no `extra`, and what does not fit its column ends it).
 */
export function ndjsonCopy(input: string, output: string): string {
  const columns = assetsTable.columns.filter(({ path }) => path.length > 0);
  const members: Members = { byName: new Map() };
  for (const column of columns) place(members, column.path, column);
  const read = [...members.byName].map(([name, member]) => `${quoted(name)}: '${typeOf(member)}'`).join(', ');
  const picked = columns.map(({ path, name }) => `${path.map(quoted).join('.')} AS ${quoted(name)}`).join(', ');
  return (
    `COPY (SELECT ${picked} FROM read_json('${input}', format = 'newline_delimited', columns = {${read}})) ` +
    `TO '${output}' (FORMAT parquet, COMPRESSION zstd)`
  );
}

function place({ byName }: Members, [first = '', ...rest]: readonly string[], column: Column): void {
  if (rest.length === 0) {
    byName.set(first, column);
    return;
  }
  const known = byName.get(first);
  const inner: Members = known !== undefined && 'byName' in known ? known : { byName: new Map() };
  byName.set(first, inner);
  place(inner, rest, column);
}

function typeOf(member: Column | Members): string {
  if (!('byName' in member)) return types[member.type];
  return `STRUCT(${[...member.byName].map(([name, inner]) => `${quoted(name)} ${typeOf(inner)}`).join(', ')})`;
}

function quoted(name: string): string {
  return `"${name}"`;
}
