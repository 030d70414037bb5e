/** Whether the same command may end in another way: `never` without another command, other inputs, or another key. */
export type Again = 'now' | 'later' | 'after fixing' | 'never';

/** Exit codes for schedulers. Each has one meaning, whatever the command. Help, docs and errors all read this table. */
export const exitCodes = {
  complete: { code: 0, meaning: 'complete', again: 'never' },
  bug: { code: 1, meaning: 'a bug', again: 'never' },
  usage: {
    code: 2,
    meaning: 'not possible: usage error, invalid job, not an export, not what comes next',
    again: 'never',
  },
  notTolerated: {
    code: 3,
    meaning: 'done, but not as required: a tolerance exceeded, nothing found, not proven, exports differ',
    again: 'never',
  },
  input: {
    code: 4,
    meaning: 'input unreadable, not a list of ids, or changed; base absent, or of other ids',
    again: 'never',
  },
  unavailable: {
    code: 5,
    meaning: 'service, store or database unavailable after retries, or its answers are not usable',
    again: 'later',
  },
  notTrusted: {
    code: 6,
    meaning: 'not trusted: API key refused, or certificate not valid for the address',
    again: 'never',
  },
  cannotWrite: {
    code: 7,
    meaning: 'cannot write (disk full, permission, no hard links), or out of handles or memory',
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
    meaning: 'damaged, or of another version: log, manifest, part, list, ledger or lake',
    again: 'never',
  },
  unfinished: {
    code: 13,
    meaning: 'not finished yet: its run was stopped or still works',
    again: 'later',
  },
  hungUp: { code: 129, meaning: 'SIGHUP: answers in flight were kept; resumable', again: 'now' },
  interrupted: { code: 130, meaning: 'SIGINT: answers in flight were kept; resumable', again: 'now' },
  terminated: { code: 143, meaning: 'SIGTERM: answers in flight were kept; resumable', again: 'now' },
} as const satisfies Readonly<Record<string, { code: number; meaning: string; again: Again }>>;

export type ExitName = keyof typeof exitCodes;
