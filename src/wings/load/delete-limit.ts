import type { FinishedExport } from '../../exports/finished-export.ts';
import { unexportedTable } from '../../core/records/beside-tables.ts';
import { ExportError } from '../../lib/export-error.ts';
import { count } from '../../lib/format-text.ts';
import { doubleQuoted, literal } from '../../lib/sql-text.ts';
import type { Database } from './database.ts';

/** Why assets are deleted, in the order of messages. */
const deleteReasons = ['unlisted', 'missing', 'failed'] as const;
export type DeletesByReason = Readonly<Partial<Record<string, number>>>;

export interface DeleteLimit {
  /** A table of assets that has rows may be replaced by none, and all assets may be deleted. */
  readonly allowEmpty?: boolean | undefined;
  /** Most deletes: a count, or a share of the rows of assets such as `5%`. */
  readonly maxDeletes?: string | undefined;
}

/** The most deletes, as `mostDeletes` takes them. */
export function deleteLimit({ allowEmpty = false, maxDeletes = '5%' }: DeleteLimit): string {
  return allowEmpty ? '100%' : maxDeletes;
}

/** The most deletes, as an expression. @param limit a count, or a share such as `5%` @param total the rows, as an expression */
export function mostDeletes(limit: string, total: string): string {
  return limit.endsWith('%') ? `floor(${total} * ${Number(limit.slice(0, -1))} / 100.0)` : limit;
}

/** @param byReason undefined where nothing says why */
export function tooManyDeletes(
  [deleted, total]: readonly [deleted: number, total: number],
  byReason: DeletesByReason | undefined,
  { limit, todo }: { readonly limit: string; readonly todo: string },
): ExportError {
  const parts = deleteReasons.map((reason) => `${reason} ${count(byReason?.[reason] ?? 0)}`).join(', ');
  const why = byReason === undefined ? '' : `: ${parts}`;
  return new ExportError('notTolerated', `${count(deleted)} of ${count(total)} assets would be deleted${why}`, {
    todo: `Rolled back: --max-deletes ${limit} allows fewer. ${todo}`,
    facts: { deleted, rows: total },
  });
}

/** Rows of a message or a statement at a time. */
const idsPerQuery = 1000;

/**
 * Says why an export lacks ids: not among its ids, not known to the service, or failed.
 * @param lacking the rows of a table whose ids the export lacks, behind FROM
 * @param id their column of ids
 */
export async function whyDeleted(
  database: Database,
  finished: FinishedExport,
  { lacking, id, deleted }: { readonly lacking: string; readonly id: string; readonly deleted: number },
): Promise<DeletesByReason> {
  const found = { missing: 0, failed: 0 };
  const columns = unexportedTable.columns.slice(0, 2);
  const ids: Record<keyof typeof found, Set<string>> = { missing: new Set(), failed: new Set() };
  const countIds = async (outcome: keyof typeof found): Promise<void> => {
    const words = [...ids[outcome]].map(literal).join(', ');
    if (words !== '') {
      const among = `${doubleQuoted(id)} IN (${words})`;
      const [[rows] = []] = await database.rows(`SELECT count(*) FROM ${lacking} AND ${among}`);
      found[outcome] += Number(rows);
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
