/** Exit codes for schedulers. Help, docs and errors all read this table. */
export const exitCodes = {
  complete: { code: 0, meaning: 'complete', runAgain: '' },
  bug: { code: 1, meaning: 'a bug', runAgain: '' },
  usage: {
    code: 2,
    meaning:
      'usage error, invalid job file, or job changed since the start; for load: the export is older than the tables, or not the next night; for lake: another program wrote the newest snapshot',
    runAgain: '',
  },
  notTolerated: {
    code: 3,
    meaning:
      'complete, but a tolerance was exceeded (missing, failed, invalid, unlisted, or schema drift) or no id was read; for load: the export has no assets, or too many would be deleted; for get: id not found; for ids: not proven, no members, or not the number of --expect; for diff --exit-code: the exports differ',
    runAgain: '',
  },
  input: {
    code: 4,
    meaning:
      'input unreadable, not a list of ids, or changed since the start; the base is absent, or has no id in common',
    runAgain: '',
  },
  unavailable: {
    code: 5,
    meaning:
      'service, store or database unavailable after retries; for load: a lock is not granted, or another process holds the DuckDB file; for ids: the list is not sorted, or ignores after; the export is complete, not in the lake',
    runAgain: 'yes, later',
  },
  notTrusted: {
    code: 6,
    meaning: 'not trusted: API key refused, or certificate not valid for the address',
    runAgain: '',
  },
  cannotWrite: {
    code: 7,
    meaning:
      'cannot write (disk full, permission denied), or out of file handles or memory (also of DuckDB); a lake on a disk without hard links',
    runAgain: 'after fixing the cause',
  },
  spent: { code: 8, meaning: 'budget or balance spent', runAgain: 'yes, when the message says' },
  loadFailed: {
    code: 9,
    meaning:
      'database refused, or tables would not hold the rows of the export: the load was rolled back, unless the message says otherwise; for check: a right is missing',
    runAgain: 'after fixing the cause',
  },
  overrun: {
    code: 10,
    meaning: 'more calls than planned, beyond budget.overrun: the service refuses most of them; resumable',
    runAgain: 'when the service works, or with a larger --overrun',
  },
  locked: { code: 11, meaning: 'another run holds this export or list', runAgain: 'yes' },
  damaged: {
    code: 12,
    meaning:
      'damaged log of a run, manifest, part, list or credit ledger; or written by another version; for lake: tables and exports do not fit',
    runAgain: '',
  },
  interrupted: { code: 130, meaning: 'SIGINT: answers in flight were kept; resumable', runAgain: 'yes' },
  terminated: { code: 143, meaning: 'SIGTERM: answers in flight were kept; resumable', runAgain: 'yes' },
} as const;

export type ExitName = keyof typeof exitCodes;
