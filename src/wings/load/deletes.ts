import type { FinishedExport } from '../../exports/finished-export.ts';
import { unexportedTable } from '../../core/records/id-tables.ts';
import { ExportError } from '../../lib/export-error.ts';
import { count } from '../../lib/format-text.ts';
import { doubleQuoted, literal } from '../../lib/sql-text.ts';
import { goneRows, type StagedTable } from './difference.ts';
import type { LoadedExport } from './loaded-export.ts';
import type { LoadSession } from './load-session.ts';
import type { Standing } from './standing.ts';
import type { LoadTable } from '../warehouse/index.ts';

/** Why assets are deleted, in the order of messages. */
const deleteReasons = ['unlisted', 'missing', 'failed'] as const;

export interface DeleteLimit {
  /** A table of assets that has rows may be replaced by none, and all assets may be deleted. */
  readonly allowEmpty?: boolean | undefined;
  /** Most deletes: a count, or a share of the rows of assets such as `5%`. */
  readonly maxDeletes?: string | undefined;
}

/** Rows of a message or a statement at a time. */
const idsPerQuery = 1000;

/**
 * Says why an export lacks ids: not among its ids, not known to the service, or failed.
 * @param lacking the rows of a table whose ids the export lacks, behind FROM
 * @param id their column of ids
 */
async function whyDeleted(
  session: LoadSession,
  finished: FinishedExport,
  { lacking, id, deleted }: { readonly lacking: string; readonly id: string; readonly deleted: number },
): Promise<Readonly<Partial<Record<string, number>>>> {
  const found = { missing: 0, failed: 0 };
  const columns = unexportedTable.columns.slice(0, 2);
  const ids: Record<keyof typeof found, Set<string>> = { missing: new Set(), failed: new Set() };
  const countIds = async (outcome: keyof typeof found): Promise<void> => {
    const words = [...ids[outcome]].map(literal).join(', ');
    if (words !== '') {
      const among = `held.${doubleQuoted(id)} IN (${words})`;
      found[outcome] += await session.count(`${lacking} AND ${among}`);
    }
    ids[outcome].clear();
  };
  for (const file of finished.filesOf(unexportedTable.name)) {
    for await (const rows of finished.rows(file, columns)) {
      for (const [text, outcome] of rows) {
        if (outcome !== 'missing' && outcome !== 'failed') continue;
        ids[outcome].add(String(text));
        if (ids[outcome].size >= idsPerQuery) await countIds(outcome);
      }
    }
  }
  await countIds('missing');
  await countIds('failed');
  return { ...found, unlisted: deleted - found.missing - found.failed };
}

/** Assets that are held, and those that the export lacks. */
interface HeldIds {
  /** Counts, as expressions. */
  readonly total: string;
  readonly deleted: string;
  /** Ids that the export lacks, behind FROM, and their column; undefined where there is none. */
  readonly lacking: string;
  readonly id: string | undefined;
}

/** @param rows of the export */
function idsInAssets(staged: StagedTable, rows: number): HeldIds {
  const total = `(SELECT count(*) FROM ${doubleQuoted(staged.table.name)} AS held WHERE ${staged.among})`;
  const lacking = goneRows(staged);
  const deleted = staged.key === undefined ? `greatest(${total} - ${rows}, 0)` : `(SELECT count(*) FROM ${lacking})`;
  return { total, deleted, lacking, id: staged.key?.[0] };
}

/** Where the export has no table of assets: the ids in all child tables. */
function idsInChildren(children: readonly StagedTable[]): HeldIds | undefined {
  const known = children.filter(({ key = [] }) => key.length > 0);
  const [first] = known;
  if (first === undefined) return undefined;
  const id = doubleQuoted(first.key?.[0] ?? '');
  const ids = (names: readonly string[]): string =>
    `(${names.map((name) => `SELECT DISTINCT ${id} FROM ${doubleQuoted(name)}`).join(' UNION ')})`;
  const held = ids(known.map(({ table }) => table.name));
  const staged = ids(known.map(({ stage }) => stage));
  const lacking = `${held} AS held WHERE NOT EXISTS (SELECT 1 FROM ${staged} AS staged WHERE staged.${id} = held.${id})`;
  const total = `(SELECT count(*) FROM ${held} AS held)`;
  return { total, deleted: `(SELECT count(*) FROM ${lacking})`, lacking, id: first.key?.[0] };
}

/**
 * Refuses to delete too many assets.
 * @param tables those that are compared, and their stages @throws {ExportError} `notTolerated`
 */
export async function requireFewDeletes(
  session: LoadSession,
  tables: readonly { readonly source: LoadTable; readonly staged: StagedTable }[],
  { loaded, options }: { readonly loaded: LoadedExport; readonly options: DeleteLimit },
): Promise<void> {
  const assets = tables.find(({ source }) => source.name === 'assets');
  const hasAssets = loaded.plan.tables.some(({ name }) => name === 'assets');
  if (hasAssets && assets === undefined) return;
  const ids =
    assets === undefined
      ? idsInChildren(tables.map(({ staged }) => staged))
      : idsInAssets(assets.staged, assets.source.rows);
  if (ids === undefined) return;
  const { total, deleted, lacking, id } = ids;
  const { allowEmpty = false, maxDeletes = '5%' } = options;
  const limit = allowEmpty ? '100%' : maxDeletes;
  const most = limit.endsWith('%') ? `floor(total * ${Number(limit.slice(0, -1))} / 100.0)` : limit;
  await session.refuseIf({
    query: `SELECT deleted, total FROM (SELECT ${deleted} AS deleted, ${total} AS total) AS counted WHERE deleted > ${most}`,
    error: async (row) => {
      const [gone, all] = [Number(row[0]), Number(row[1])];
      const byReason =
        id === undefined ? undefined : await whyDeleted(session, loaded.finished, { lacking, id, deleted: gone });
      const parts = deleteReasons.map((reason) => `${reason} ${count(byReason?.[reason] ?? 0)}`).join(', ');
      const why = byReason === undefined ? '' : `: ${parts}`;
      return new ExportError('notTolerated', `${count(gone)} of ${count(all)} assets would be deleted${why}`, {
        todo: `Rolled back: --max-deletes ${limit} allows fewer. Check the ids of the export. If the table is to hold another export, use --max-deletes 100%.`,
        facts: { deleted: gone, rows: all },
      });
    },
  });
}

/** @throws {ExportError} `notTolerated` where tables would begin without an asset: the list was hardly one of assets */
export function requireLoaded({ address }: LoadedExport, standings: readonly Standing[]): void {
  if (standings.some(({ isEmpty, rows }) => !isEmpty || rows === 0)) return;
  throw new ExportError('notTolerated', `${address} has no assets, and neither have the tables`, {
    todo: 'Check the ids of the export. To begin with empty tables, use --allow-empty.',
  });
}

/** @throws {ExportError} `notTolerated` where a table of assets that has rows would be emptied */
export async function requireNoRows(session: LoadSession, table: string): Promise<void> {
  const message = `the table ${table} has rows, but the export has none: refusing to empty the table`;
  const todo = 'Rolled back. Check the ids of the export. To empty the table, use --allow-empty.';
  await session.refuseIf({
    query: `SELECT 1 FROM ${doubleQuoted(session.heldName(table))}`,
    error: () => new ExportError('notTolerated', message, { todo }),
  });
}
