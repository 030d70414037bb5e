import { codeOf, ExportError, messageOf } from '../../lib/export-error.ts';
import { isTime } from '../../core/records/asset-changes.ts';
import { isIdColumn, type Row, type Table } from '../../core/records/table.ts';
import { neverAnswered } from '../../lib/network.ts';
import { doubleQuoted, literal } from '../../lib/sql-text.ts';
import type { Database } from './database.ts';
import { type FailedLoad, isSilent, loadError, lockNotGranted, shownReason } from './load-errors.ts';
import type { LoadedExport } from './loaded-export.ts';
import { loadsTable } from './load-record.ts';
import { insufficientPrivilege } from './prepare-tables.ts';
import { createTemporary } from './stage-tables.ts';
import { columnsInDatabase, filledTables, nameIn, sameType, typeInDatabase } from './table-columns.ts';
import type { LoadTable } from '../warehouse/index.ts';
import { plural } from '../../lib/format-text.ts';
import { hasNul } from './nul/nul-values.ts';

/** A failed load, and where to find out why. */
export interface FailedHere extends Pick<FailedLoad, 'shown' | 'moment'> {
  /** Rolled back; undefined where there was no connection. */
  readonly database: Database | undefined;
  readonly loaded: LoadedExport;
  readonly schema: string | undefined;
}

/** An error of a driver for people, with what the database knows of it. */
export async function explainedFailure(error: unknown, failed: FailedHere): Promise<ExportError> {
  const { database, loaded } = failed;
  const found = loadError(error, { ...failed, folder: loaded.address, format: loaded.plan.format });
  if (database === undefined) {
    const { shown } = failed;
    const last = new Error(shownReason(messageOf(error)));
    return isSilent(error) ? neverAnswered(shown, last, 'Check --to and the network. Nothing was loaded.') : found;
  }
  if (codeOf(error) === lockNotGranted) return lockError(database, failed);
  if (found.exit !== 'loadFailed') return found;
  if (database.kind === 'postgres' && isNulRefused(found.message)) {
    return (await nulError(database, loaded, { schema: failed.schema, refused: found })) ?? found;
  }
  if (codeOf(error) === insufficientPrivilege) return (await rightError(database, failed, found)) ?? found;
  if (!isOfValue(error)) return found;
  const at = await refusedValue(database, failed).catch(() => undefined);
  const named =
    at === undefined ? found : new ExportError('loadFailed', `${found.message}: ${at}`, { todo: found.todo });
  return (isOfTypes(error) ? await typeError(database, failed, { error, found: named }) : undefined) ?? named;
}

/** Whether a row was refused for what it holds: besides its types, a limit of the server or a constraint. */
function isOfValue(error: unknown): boolean {
  return isOfTypes(error) || /^(54...|23502|23514)$/.test(codeOf(error) ?? '');
}

const tried = 'asset_export_tried';
const triedAtOnce = 200;

/** The first value that the database refuses, as `table.column of id`: rows go into a copy of their table, half of them at a time. */
async function refusedValue(database: Database, { loaded, schema }: FailedHere): Promise<string | undefined> {
  const { kind } = database;
  for (const { table: name, source } of filledFrom(loaded)) {
    const held = await columnsInDatabase(database, schema, name);
    const table = { ...source.table, name: tried };
    const target = nameIn(schema, name);
    const copy = kind === 'postgres' ? `(LIKE ${target} INCLUDING ALL)` : `AS FROM ${target} LIMIT 0`;
    await database.run(
      held.size === 0 ? createTemporary(kind, table) : `CREATE TEMPORARY TABLE ${doubleQuoted(tried)} ${copy}`,
    );
    // A time has another form in rows, and is made by the program.
    const columns = source.table.columns.filter(
      (column) => !isTime(column) && (held.size === 0 || held.has(column.name)),
    );
    const names = columns.map((column) => doubleQuoted(column.name)).join(', ');
    const takes = (rows: readonly Row[]): Promise<boolean> => {
      const cells = (row: Row): string =>
        row.map((cell) => (cell === null ? 'NULL' : literal(String(cell)))).join(', ');
      const values = rows.map((row) => `(${cells(row)})`).join(', ');
      return database.run(`INSERT INTO ${doubleQuoted(tried)} (${names}) VALUES ${values}`).then(
        () => true,
        () => false,
      );
    };
    const refused = async (rows: readonly Row[]): Promise<Row | undefined> => {
      if (rows.length === 0 || (await takes(rows))) return undefined;
      if (rows.length === 1) return rows[0];
      const half = rows.length >> 1;
      return (await refused(rows.slice(0, half))) ?? refused(rows.slice(half));
    };
    for (const file of source.files) {
      for await (const rows of loaded.finished.rows(file, columns)) {
        for (let from = 0; from < rows.length; from += triedAtOnce) {
          const row = await refused(rows.slice(from, from + triedAtOnce));
          if (row === undefined) continue;
          const id = String(row[Math.max(0, columns.findIndex(isIdColumn))]);
          for (const [place, column] of columns.entries())
            if (row[place] !== null && (await takes([row.with(place, null)]))) return `${name}.${column.name} of ${id}`;
          return `${name}, the row of ${id}`;
        }
      }
    }
    await database.run(`DROP TABLE ${doubleQuoted(tried)}`);
  }
  return undefined;
}

/** The rights that a load needs, by what they are on (docs/warehouses.md). */
const rights: Readonly<Record<string, string>> = {
  database: 'CREATE, TEMPORARY ON DATABASE',
  schema: 'USAGE, CREATE ON SCHEMA',
  table: 'SELECT, INSERT, UPDATE, DELETE ON',
};

/** Names the right that lacks, with the statement that gives it. */
async function rightError(
  database: Database,
  { schema }: FailedHere,
  found: ExportError,
): Promise<ExportError | undefined> {
  const [, kind = '', name = ''] = /permission denied for (\w+) (.+)$/.exec(found.message) ?? [];
  const right = rights[kind];
  const rows = await database.rows('SELECT current_user::text').catch(() => []);
  const role = rows[0]?.[0];
  if (right === undefined || typeof role !== 'string') return undefined;
  const object = kind === 'table' ? nameIn(schema, name) : doubleQuoted(name);
  return new ExportError('loadFailed', found.message, {
    todo: `Rolled back. Run as the owner of the ${kind}, then load again:\nGRANT ${right} ${object} TO ${doubleQuoted(role)};`,
  });
}

/** Names the table and the process that holds it. */
async function lockError(database: Database, { loaded, schema, shown }: FailedHere): Promise<ExportError> {
  const tables = [...filledTables(loaded.plan).map(({ name }) => name), loadsTable];
  const named = tables.map(
    (table) => `SELECT ${literal(table)} AS name, to_regclass(${literal(nameIn(schema, table))})::oid AS relation`,
  );
  const [row = []] = await database
    .rows(
      `SELECT name, pid, mode FROM (${named.join(' UNION ALL ')}) AS named JOIN pg_locks USING (relation)
WHERE granted AND pid <> pg_backend_pid() AND pid IS NOT NULL
ORDER BY mode = 'AccessExclusiveLock' DESC, mode IN ('AccessShareLock', 'RowShareLock'), name LIMIT 1`,
    )
    .catch(() => []);
  const [name, pid, mode] = row as readonly (string | number | undefined)[];
  const what =
    name === undefined
      ? 'a table is locked'
      : `the table ${String(name)} is locked by the process ${String(pid)} (${String(mode)})`;
  const end = pid === undefined ? '' : `, or end it (SELECT pg_terminate_backend(${String(pid)}))`;
  return new ExportError('unavailable', `${shown}: ${what}, and lock_timeout passed`, {
    todo: `Rolled back. Load again when that transaction ends${end}. To wait longer, add lock_timeout=MILLISECONDS to the address.`,
    facts: name === undefined ? {} : { table: String(name), pid: Number(pid) },
  });
}

/** Whether a value did not fit the type of a column. */
function isOfTypes(error: unknown): boolean {
  const code = codeOf(error);
  if (code === undefined)
    return /^(Conversion|Mismatch Type|Binder|Out of Range|Invalid Input) Error/.test(messageOf(error));
  // A domain refuses as a constraint does, and names itself.
  const isOfDomain = error instanceof Error && 'dataType' in error && typeof error.dataType === 'string';
  return /^(22...|42804|42846|42883)$/.test(code) || (isOfDomain && /^(23502|23514)$/.test(code));
}

/** The columns of another type than that of the export, with the statements that change them. */
async function typeError(
  database: Database,
  { loaded, schema }: FailedHere,
  { error, found }: { readonly error: unknown; readonly found: ExportError },
): Promise<ExportError | undefined> {
  const others = await otherTypes(database, schema, filledTables(loaded.plan)).catch(() => []);
  const where = error instanceof Error && 'where' in error ? String(error.where) : '';
  const [, column] = /, column (\S+):/.exec(where) ?? [];
  const named = others.filter(({ name }) => name === column);
  const shown = named.length > 0 ? named : others;
  if (shown.length === 0) return undefined;
  const columns = shown.map(({ table, name }) => `${table}.${name}`).join(', ');
  const views = await viewsUsing(database, schema, shown).catch(() => []);
  const ownView = `${loaded.plan.prefix}nft_metadata`;
  const own = views.filter(({ name, isHere }) => isHere && name === ownView);
  const foreign = views.filter((view) => !own.includes(view)).map((view) => `${view.schema}.${view.name}`);
  const below = [...foreign, ...(await objectsUsing(database, schema, shown).catch(() => []))];
  const kept = `PostgreSQL changes no type that these use: first drop ${below.join(', ')}, and create it again afterwards. `;
  const made = own.length === 0 ? '' : ` Load with --views, which creates the view ${ownView} again.`;
  const drops = own.map(({ name }) => `DROP VIEW ${nameIn(schema, name)};`);
  const statements = [...drops, ...shown.flatMap((other) => other.statements)];
  return new ExportError('loadFailed', `${found.message}: the export has another type of ${columns}`, {
    todo: `Rolled back. ${below.length === 0 ? '' : kept}Run as the owner of the table, then load again.${made}\n${statements.join('\n')}`,
  });
}

/** Whether PostgreSQL refused a NUL character: in a text, or its escape in JSON. */
function isNulRefused(message: string): boolean {
  return /0x00|null byte|\\u0000/i.test(message);
}

/**
 * Looks through the files for NUL characters that PostgreSQL refuses; undefined when there are none.
 * @param refused the error of the database
 */
async function nulError(
  database: Database,
  loaded: LoadedExport,
  { schema, refused }: { readonly schema: string | undefined; readonly refused: ExportError },
): Promise<ExportError | undefined> {
  const found: string[] = [];
  const { format } = loaded.plan;
  for (const { table, source } of filledFrom(loaded)) {
    const types = await columnsInDatabase(database, schema, table);
    // Out of a JSONL file no json value is taken that has the escape.
    const refusing = format === 'jsonl' ? ['json', 'jsonb'] : ['jsonb'];
    const jsonb = new Set([...types].filter(([, type]) => refusing.includes(type)).map(([column]) => column));
    for (const [column, { id, rows }] of await nulValues(loaded, source, jsonb))
      found.push(`${table}.${column} of ${id} has a NUL character (${plural(rows, 'row')})`);
  }
  if (found.length === 0) return undefined;
  // Out of other formats json keeps the escape.
  const more = format === 'jsonl' ? (refused.todo ?? '') : 'Nothing was kept.';
  const instead = `Load again with one of these flags, or load into DuckDB. ${more}`;
  return new ExportError('loadFailed', `${found.join(', ')}: --nul replace or --nul remove (${refused.message})`, {
    todo: instead.trimEnd(),
  });
}

/** The tables of the database that are filled, and what with: of a diff its changes. */
function filledFrom({ plan: { tables, prefix }, changes, isDiff }: LoadedExport) {
  const sources = tables.map((source) => ({ table: source.table.name, source }));
  if (!isDiff || changes === undefined) return sources;
  return [{ table: `${prefix}assets`, source: changes }, ...sources.filter(({ source }) => source.files.length > 0)];
}

/** Rows with a NUL character by column, and the asset of the first of them. */
async function nulValues(
  { finished }: LoadedExport,
  { table, files }: LoadTable,
  jsonb: ReadonlySet<string>,
): Promise<ReadonlyMap<string, { readonly id: string; readonly rows: number }>> {
  // The first column of a child table is the id of its asset.
  const idAt = Math.max(0, table.columns.findIndex(isIdColumn));
  const counts = new Map<string, { id: string; rows: number }>();
  for (const file of files) {
    for await (const rows of finished.rows(file, table.columns)) {
      for (const row of rows) {
        for (const [at, column] of table.columns.entries()) {
          if (!hasNul(row[at] ?? null, column, jsonb)) continue;
          const count = counts.get(column.name) ?? { id: String(row[idAt]), rows: 0 };
          count.rows += 1;
          counts.set(column.name, count);
        }
      }
    }
  }
  return counts;
}

/** A column of another type than that of the export. */
interface OtherType {
  readonly table: string;
  readonly name: string;
  /** What brings it to the type of the export. */
  readonly statements: readonly string[];
}

/** The columns whose type is another than that of the export, with the statements that change it. */
async function otherTypes(
  database: Database,
  schema: string | undefined,
  tables: readonly Table[],
): Promise<OtherType[]> {
  const found: OtherType[] = [];
  for (const table of tables) {
    const held = await columnsInDatabase(database, schema, table.name);
    const withDefault = `SELECT attname::text FROM pg_attribute WHERE attrelid = to_regclass(${literal(nameIn(schema, table.name))}) AND atthasdef AND attgenerated = ''`;
    const defaults = database.kind === 'duckdb' ? [] : (await database.rows(withDefault)).map(([name]) => String(name));
    for (const column of table.columns) {
      const type = typeInDatabase(database.kind, column);
      const now = held.get(column.name);
      if (now === undefined || sameType(now, type)) continue;
      const name = doubleQuoted(column.name);
      const alter = `ALTER TABLE ${nameIn(schema, table.name)} ALTER COLUMN ${name}`;
      // A default of any type becomes text by itself.
      const drops = defaults.includes(column.name) && type !== 'text' ? [`${alter} DROP DEFAULT;`] : [];
      const statements = [...drops, `${alter} TYPE ${type} USING ${name}::text::${type};`];
      found.push({ table: table.name, name: column.name, statements });
    }
  }
  return found;
}

/** The views that use one of these columns, and those that use such a view: PostgreSQL changes no type below a view. */
async function viewsUsing(
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
async function objectsUsing(
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
