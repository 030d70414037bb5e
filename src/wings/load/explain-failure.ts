import { codeOf, ExportError, messageOf } from '../../lib/export-error.ts';
import { neverAnswered } from '../../lib/first-contact.ts';
import { doubleQuoted, literal } from '../../lib/sql-text.ts';
import type { Database } from './database.ts';
import { isNulRefused, nulError } from './nul/find-nul.ts';
import { type FailedLoad, isSilent, loadError, lockNotGranted, shownReason } from './load-errors.ts';
import type { LoadedExport } from './loaded-export.ts';
import { loadsTable } from './load-record.ts';
import { objectsUsing, otherTypes, viewsUsing } from './other-types.ts';
import { insufficientPrivilege } from './prepare-tables.ts';
import { filledTables, nameIn } from './table-columns.ts';

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
  if (!isOfTypes(error)) return found;
  return (await typeError(database, failed, { error, found })) ?? found;
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
