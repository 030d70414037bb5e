/** Whether the same command may end in another way: `never` without another command, other inputs, or another key. */
export type Again = 'now' | 'later' | 'after fixing' | 'never';

/** Exit codes for schedulers. Each has one meaning, whatever the command. Help, docs and errors all read this table. */
export const exitCodes = {
  complete: { code: 0, meaning: 'complete', again: 'never' },
  bug: { code: 1, meaning: 'a bug', again: 'never' },
  usage: {
    code: 2,
    meaning:
      'not possible: a usage error, an invalid job file, not an export, or not what comes next (the job changed since the start, an older night)',
    again: 'never',
  },
  notTolerated: {
    code: 3,
    meaning:
      'done, but not as required: a tolerance was exceeded (missing, failed, invalid, unlisted, deleted, schema drift), nothing was found, a list is not proven, or exports differ',
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
    meaning: 'service, store, database or a lock of it unavailable after retries, or it does not answer as it must',
    again: 'later',
  },
  notTrusted: {
    code: 6,
    meaning: 'not trusted: API key refused, or certificate not valid for the address',
    again: 'never',
  },
  cannotWrite: {
    code: 7,
    meaning: 'cannot write (disk full, permission denied, no hard links), or out of file handles or memory',
    again: 'after fixing',
  },
  spent: { code: 8, meaning: 'budget or balance spent', again: 'later' },
  loadFailed: {
    code: 9,
    meaning: 'a database refused: a right is missing, or its tables would not hold the rows',
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
    meaning: 'damaged, or written by another version: log of a run, manifest, part, list, credit ledger or lake',
    again: 'never',
  },
  unfinished: {
    code: 13,
    meaning: 'not finished yet: the export has no manifest, as its run was stopped or still works',
    again: 'later',
  },
  hungUp: { code: 129, meaning: 'SIGHUP: answers in flight were kept; resumable', again: 'now' },
  interrupted: { code: 130, meaning: 'SIGINT: answers in flight were kept; resumable', again: 'now' },
  terminated: { code: 143, meaning: 'SIGTERM: answers in flight were kept; resumable', again: 'now' },
} as const satisfies Readonly<Record<string, { code: number; meaning: string; again: Again }>>;

export type ExitName = keyof typeof exitCodes;
