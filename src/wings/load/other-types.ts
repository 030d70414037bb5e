import type { Table } from '../../core/records/table.ts';
import { doubleQuoted, literal } from '../../lib/sql-text.ts';
import type { Database } from './database.ts';
import { columnsInDatabase, nameIn, sameType, typeInDatabase } from './table-columns.ts';

/** A column of another type than that of the export. */
interface OtherType {
  readonly table: string;
  readonly name: string;
  /** What brings it to the type of the export. */
  readonly statements: readonly string[];
}

/** The columns whose type is another than that of the export, with the statements that change it. */
export async function otherTypes(
  database: Database,
  schema: string | undefined,
  tables: readonly Table[],
): Promise<OtherType[]> {
  const found: OtherType[] = [];
  for (const table of tables) {
    const held = await columnsInDatabase(database, schema, table.name);
    const defaults = await columnsWithDefault(database, schema, table.name);
    for (const column of table.columns) {
      const type = typeInDatabase(database.kind, column);
      const now = held.get(column.name);
      if (now === undefined || sameType(now, type)) continue;
      const name = doubleQuoted(column.name);
      const alter = `ALTER TABLE ${nameIn(schema, table.name)} ALTER COLUMN ${name}`;
      // A default of any type becomes text by itself.
      const drops = defaults.has(column.name) && type !== 'text' ? [`${alter} DROP DEFAULT;`] : [];
      const statements = [...drops, `${alter} TYPE ${type} USING ${name}::text::${type};`];
      found.push({ table: table.name, name: column.name, statements });
    }
  }
  return found;
}

async function columnsWithDefault(
  database: Database,
  schema: string | undefined,
  table: string,
): Promise<ReadonlySet<string>> {
  if (database.kind === 'duckdb') return new Set();
  const rows = await database.rows(
    `SELECT attname::text FROM pg_attribute WHERE attrelid = to_regclass(${literal(nameIn(schema, table))}) AND atthasdef AND attgenerated = ''`,
  );
  return new Set(rows.map(([name]) => String(name)));
}

/** The views that use one of these columns, and those that use such a view: PostgreSQL changes no type below a view. */
export async function viewsUsing(
  database: Database,
  schema: string | undefined,
  columns: readonly OtherType[],
): Promise<{ readonly schema: string; readonly name: string; readonly isHere: boolean }[]> {
  if (database.kind === 'duckdb' || columns.length === 0) return [];
  const uses = `SELECT DISTINCT refobjid AS used, refobjsubid AS column, ev_class AS view FROM pg_depend JOIN pg_rewrite ON pg_rewrite.oid = objid
WHERE classid = 'pg_rewrite'::regclass AND refclassid = 'pg_class'::regclass AND refobjid <> ev_class`;
  const used = columns.map(
    ({ table, name }) =>
      `SELECT attrelid, attnum FROM pg_attribute WHERE attrelid = to_regclass(${literal(nameIn(schema, table))}) AND attname = ${literal(name)}`,
  );
  const here = `SELECT relnamespace FROM pg_class WHERE oid = to_regclass(${literal(nameIn(schema, columns[0]?.table ?? ''))})`;
  const rows = await database.rows(`WITH RECURSIVE uses AS (${uses}), found AS (
  SELECT view FROM uses JOIN (${used.join(' UNION ALL ')}) AS changed ON used = attrelid AND uses.column = attnum
  UNION SELECT uses.view FROM uses JOIN found ON used = found.view
) SELECT nspname::text, relname::text, relnamespace = (${here}) FROM found JOIN pg_class ON pg_class.oid = view JOIN pg_namespace ON pg_namespace.oid = relnamespace ORDER BY 1, 2`);
  return rows.map(([of, name, isHere]) => ({ schema: String(of), name: String(name), isHere: isHere === true }));
}

/** What else keeps PostgreSQL from changing the type of a column: generated columns, policies, and triggers of an UPDATE of it. */
export async function objectsUsing(
  database: Database,
  schema: string | undefined,
  columns: readonly OtherType[],
): Promise<string[]> {
  if (database.kind === 'duckdb') return [];
  const used = columns.map(
    ({ table, name }) => `(to_regclass(${literal(nameIn(schema, table))})::oid, ${literal(name)}::name)`,
  );
  const rows =
    await database.rows(`SELECT DISTINCT CASE WHEN adrelid IS NULL THEN pg_describe_object(classid, objid, objsubid)
  ELSE pg_describe_object('pg_class'::regclass, adrelid, adnum) END
FROM pg_depend JOIN pg_attribute ON attrelid = refobjid AND attnum = refobjsubid
LEFT JOIN pg_attrdef ON classid = 'pg_attrdef'::regclass AND pg_attrdef.oid = objid
WHERE refclassid = 'pg_class'::regclass AND (attrelid, attname) IN (${used.join(', ')})
AND (classid IN ('pg_policy'::regclass, 'pg_trigger'::regclass) OR adnum <> attnum OR (classid = 'pg_class'::regclass AND objid = refobjid))
ORDER BY 1`);
  return rows.map(([name]) => String(name));
}
