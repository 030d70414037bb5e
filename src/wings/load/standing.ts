import { dirname, join } from 'node:path';
import { ExportError } from '../../lib/export-error.ts';
import { isBucketAddress } from '../../lib/addresses/address-kinds.ts';
import { shellWord } from '../../lib/addresses/shown-text.ts';
import { doubleQuoted, literal } from '../../lib/sql-text.ts';
import { contentSeal, readManifest } from '../../places/export/manifest.ts';
import type { LoadedExport } from './loaded-export.ts';
import { type LoadMode, loadsTable } from './load-record.ts';
import type { LoadSession } from './load-session.ts';

/** What a table holds, by the record of loads. */
export interface Standing {
  readonly table: string;
  /** It may have been dropped: what is recorded of it is not to be compared with. */
  readonly isEmpty: boolean;
  readonly mode: LoadMode;
  readonly seal: string | undefined;
  /** The folder name of the export; undefined in records of version 0.1. */
  readonly name: string | undefined;
  readonly startedAtMs: number | undefined;
  readonly loadedAtMs: number | undefined;
  /** Rows and columns of the export; undefined in records of older versions and of scripts. */
  readonly rows: number | undefined;
  readonly columns: readonly string[] | undefined;
}

/** What is recorded of these tables. */
export async function standingsOf(session: LoadSession, tables: readonly string[]): Promise<Standing[]> {
  const among = `WHERE "table" IN (${tables.map(literal).join(', ')}) ORDER BY "table"`;
  const records = await session.rows(
    `SELECT "table", mode, seal, export, extract(epoch FROM started_at) * 1000, extract(epoch FROM "at") * 1000, "rows", columns FROM ${doubleQuoted(session.heldName(loadsTable))} ${among}`,
  );
  const standings: Standing[] = [];
  for (const row of records) {
    const [table = '', mode, seal, name, ms, atMs, count, columns] = (
      row as readonly (string | number | bigint | null)[]
    ).map((cell) => (cell === null ? undefined : String(cell)));
    standings.push({
      table,
      isEmpty: await session.isEmpty(session.heldName(table)),
      mode: mode === 'scd2' ? 'scd2' : 'replace',
      seal,
      name,
      startedAtMs: ms === undefined ? undefined : Math.round(Number(ms)),
      loadedAtMs: atMs === undefined ? undefined : Math.round(Number(atMs)),
      rows: count === undefined ? undefined : Number(count),
      columns: columns === undefined ? undefined : (JSON.parse(columns) as string[]),
    });
  }
  return standings;
}

/** @throws {ExportError} `usage` where tables hold rows of another mode, or (`scd2`) rows that no load recorded */
export async function requireMode(
  session: LoadSession,
  mode: LoadMode,
  { tables, standings }: { readonly tables: readonly string[]; readonly standings: readonly Standing[] },
): Promise<void> {
  const other = standings.find((each) => !each.isEmpty && each.mode !== mode);
  if (other !== undefined) {
    const loss = mode === 'replace' ? ': --mode replace would remove its versions' : ', not --mode scd2';
    throw new ExportError('usage', `the table ${other.table} was loaded with --mode ${other.mode}${loss}`, {
      todo: `Load with --mode ${other.mode}, or into other tables with --schema or --prefix.`,
    });
  }
  if (mode === 'replace') return;
  for (const table of tables) {
    if (standings.some((each) => each.table === table) || (await session.isEmpty(table))) continue;
    const message = `the table ${table} has rows, and ${loadsTable} does not record which export they came from`;
    throw new ExportError('usage', message, { todo: 'Load into other tables with --schema or --prefix.' });
  }
}

/** @throws {ExportError} `usage` where a table holds a newer export, or one of which it is not known whether it is newer */
export function requireNotOlder(
  { name, startedAtMs }: Pick<LoadedExport, 'name' | 'startedAtMs'>,
  standings: readonly Standing[],
  mode: LoadMode,
): void {
  const newer = standings.find((each) => !each.isEmpty && (each.startedAtMs ?? 0) > (startedAtMs ?? 0));
  if (newer === undefined) return;
  const { table, name: held = 'an export', startedAtMs: heldAtMs = 0, loadedAtMs } = newer;
  const since = loadedAtMs === undefined ? '' : `, loaded ${shownMoment(loadedAtMs)}`;
  const holds = `the table ${table} holds ${held} (started ${shownMoment(heldAtMs)}${since})`;
  const older =
    startedAtMs === undefined
      ? `${name} does not say when it started, so it may be older`
      : `${name} (started ${shownMoment(startedAtMs)}) is older`;
  const back = mode === 'replace' ? 'To replace the rows by the older ones, add --allow-older. Or load' : 'Load';
  throw new ExportError('usage', `${older}: ${holds}`, {
    todo: `Nothing was loaded. ${back} into other tables with --schema or --prefix.`,
  });
}

/** `2026-11-24 02:00:05 UTC` */
function shownMoment(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

/**
 * Whether each table holds an export, with all its rows and the columns of the one that is loaded.
 * @param held.counted a condition of the rows that count, by table @param held.orMore tables may hold more rows
 */
export async function holdExport(
  session: LoadSession,
  standings: readonly Standing[],
  held: {
    readonly seal: string;
    readonly loaded: LoadedExport;
    readonly counted: (name: string) => string;
    readonly orMore: boolean;
  },
): Promise<boolean> {
  const { seal, loaded, counted, orMore } = held;
  for (const { name: kind, table } of loaded.plan.tables) {
    const standing = standings.find((each) => each.table === table.name);
    if (standing?.seal !== seal) return false;
    const columns = new Set(standing.columns ?? []);
    if (!table.columns.every(({ name }) => columns.has(name))) return false;
    const rows = await session.count(`${doubleQuoted(session.heldName(table.name))} AS held WHERE ${counted(kind)}`);
    if (orMore ? rows < (standing.rows ?? Infinity) : rows !== standing.rows) return false;
  }
  return true;
}

/** The error for a diff whose older side the tables do not hold. */
export async function otherThanBase({ address, base, finished, name }: LoadedExport): Promise<ExportError> {
  const { diff } = finished.manifest;
  const beside = isBucketAddress(address)
    ? `${address.slice(0, address.lastIndexOf('/'))}/${name}`
    : join(dirname(address), name);
  const found = isBucketAddress(address)
    ? undefined
    : await readManifest(finished.files, beside).catch(() => undefined);
  const isThere = isBucketAddress(address) || (found !== undefined && contentSeal(found) === diff?.to.seal);
  const since = `${base?.name ?? ''} (seal ${base?.seal.slice(0, 12) ?? ''})`;
  return new ExportError('usage', `${address} has the changes since ${since}, which the tables do not hold`, {
    todo: `Load ${isThere ? shellWord(beside) : `the export ${name}`} instead: load finds what changed.`,
  });
}
