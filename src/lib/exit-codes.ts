/** Whether the same command may end in another way: `never` without another command, other inputs, or another key. */
export type Again = 'now' | 'later' | 'after fixing' | 'never';

/** Exit codes for schedulers. Help, docs and errors all read this table. */
export const exitCodes = {
  complete: { code: 0, meaning: 'complete', again: 'never' },
  bug: { code: 1, meaning: 'a bug', again: 'never' },
  usage: {
    code: 2,
    meaning:
      'usage error, invalid job file, or job changed since the start; for load: the export is older than the tables, or not the next night; for lake: another program wrote the newest snapshot',
    again: 'never',
  },
  notTolerated: {
    code: 3,
    meaning:
      'complete, but a tolerance was exceeded (missing, failed, invalid, unlisted, or schema drift) or no id was read; for load: the export has no assets, or too many would be deleted; for get: id not found; for ids: not proven, no members, or not the number of --expect; for diff --exit-code: the exports differ',
    again: 'never',
  },
  input: {
    code: 4,
    meaning:
      'input unreadable, not a list of ids, or changed since the start; the base is absent, or has no id in common',
    again: 'never',
  },
  unavailable: {
    code: 5,
    meaning:
      'service, store or database unavailable after retries; for load: a lock is not granted, or another process holds the DuckDB file; for ids: the list is not sorted, or ignores after; the export is complete, not in the lake',
    again: 'later',
  },
  notTrusted: {
    code: 6,
    meaning: 'not trusted: API key refused, or certificate not valid for the address',
    again: 'never',
  },
  cannotWrite: {
    code: 7,
    meaning:
      'cannot write (disk full, permission denied), or out of file handles or memory (also of DuckDB); a lake on a disk without hard links',
    again: 'after fixing',
  },
  spent: { code: 8, meaning: 'budget or balance spent', again: 'later' },
  loadFailed: {
    code: 9,
    meaning:
      'database refused, or tables would not hold the rows of the export: the load was rolled back, unless the message says otherwise; for check: a right is missing',
    again: 'after fixing',
  },
  overrun: {
    code: 10,
    meaning: 'more calls than planned, beyond budget.overrun: the service refuses most of them; resumable',
    again: 'later',
  },
  locked: { code: 11, meaning: 'another run holds this export or list', again: 'now' },
  damaged: {
    code: 12,
    meaning:
      'damaged log of a run, manifest, part, list or credit ledger; or written by another version; for lake: tables and exports do not fit',
    again: 'never',
  },
  interrupted: { code: 130, meaning: 'SIGINT: answers in flight were kept; resumable', again: 'now' },
  terminated: { code: 143, meaning: 'SIGTERM: answers in flight were kept; resumable', again: 'now' },
} as const satisfies Readonly<Record<string, { code: number; meaning: string; again: Again }>>;

export type ExitName = keyof typeof exitCodes;
