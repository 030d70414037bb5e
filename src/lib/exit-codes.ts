/** What the exit status of the program tells a scheduler. The one table: help, documents and errors read it. */
export const exitCodes = {
  complete: { code: 0, meaning: 'complete', runAgain: '' },
  bug: { code: 1, meaning: 'a bug', runAgain: '' },
  usage: { code: 2, meaning: 'usage, job file, or job changed', runAgain: '' },
  notTolerated: {
    code: 3,
    meaning:
      'complete, but more missing or failed than tolerated, or drift with --on-drift fail; of get: an id is not found',
    runAgain: '',
  },
  input: { code: 4, meaning: 'input unreadable, or changed since the start', runAgain: '' },
  unavailable: { code: 5, meaning: 'service unavailable after retries', runAgain: 'yes, later' },
  keyRefused: { code: 6, meaning: 'key refused', runAgain: '' },
  cannotWrite: { code: 7, meaning: 'cannot write (disk full, permission)', runAgain: 'after making room' },
  spent: { code: 8, meaning: 'budget or balance spent', runAgain: 'yes, after 00:00 UTC (printed)' },
  locked: { code: 11, meaning: 'another run holds this export', runAgain: 'yes' },
  damaged: {
    code: 12,
    meaning: 'damaged checkpoint, manifest or part; or written by a newer version',
    runAgain: '',
  },
  interrupted: { code: 130, meaning: 'SIGINT: in-flight answers kept, resumable', runAgain: 'yes' },
  terminated: { code: 143, meaning: 'SIGTERM: in-flight answers kept, resumable', runAgain: 'yes' },
} as const;

export type ExitName = keyof typeof exitCodes;
