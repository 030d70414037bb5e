import { codeOf, ExportError, messageOf } from '../../lib/export-error.ts';
import { isTime } from '../../core/records/asset-changes.ts';
import { isIdColumn, type Row } from '../../core/records/table.ts';
import { neverAnswered } from '../../lib/first-contact.ts';
import { doubleQuoted, literal } from '../../lib/sql-text.ts';
import type { Database } from './database.ts';
import { filledFrom, isNulRefused, nulError } from './nul/find-nul.ts';
import { type FailedLoad, isSilent, loadError, lockNotGranted, shownReason } from './load-errors.ts';
import type { LoadedExport } from './loaded-export.ts';
import { loadsTable } from './load-record.ts';
import { objectsUsing, otherTypes, viewsUsing } from './other-types.ts';
import { insufficientPrivilege } from './prepare-tables.ts';
import { createTemporary } from './stages.ts';
import { columnsInDatabase, filledTables, nameIn } from './table-columns.ts';

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
