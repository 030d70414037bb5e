/** Something of the system or of V8 that this process has no more of. */
export interface Shortage {
  readonly what: string;
  readonly todo: string;
}

const handles: Shortage = {
  what: 'too many open files or connections',
  todo: 'Raise the limit (ulimit -n 1024 or more), then run the same command again.',
};

const handlesOfMachine: Shortage = {
  what: 'too many open files on this machine',
  todo: 'Stop other programs or raise fs.file-max, then run the same command again.',
};

const memory: Shortage = {
  what: 'out of memory or address space',
  todo: 'Remove the address space limit (ulimit -v unlimited), add memory, or use --threads 1 and a lower --concurrency. Then run the same command again.',
};

const threads: Shortage = {
  what: 'cannot start another thread or process',
  todo: 'Raise the process limit (ulimit -u) or use --threads 1, then run the same command again.',
};

/** Node says so too when the handle that it lacks is that of a package's files. */
const files: Shortage = {
  what: 'cannot load a file of the program',
  todo: 'Raise the limit of open files (ulimit -n 1024 or more), or install asset-export again. Then run the same command again.',
};

const byCode: Readonly<Record<string, Shortage>> = {
  EMFILE: handles,
  ENFILE: handlesOfMachine,
  ENOMEM: memory,
  ERR_MEMORY_ALLOCATION_FAILED: memory,
  ERR_WORKER_OUT_OF_MEMORY: memory,
  ERR_WORKER_INIT_FAILED: threads,
  ERR_MODULE_NOT_FOUND: files,
};

/** V8's words, which have no code. */
const noMemory = /allocation failed|out of memory|could not allocate memory/i;

/** The handles that a process lacks, according to an error or a cause of it. */
export function handlesShortIn(error: unknown): Shortage | undefined {
  const shortage = shortageIn(error);
  return shortage === handles || shortage === handlesOfMachine ? shortage : undefined;
}

/** What an error, or a cause of it, says to be used up. */
export function shortageIn(error: unknown, depth = 0): Shortage | undefined {
  if (!(error instanceof Error) || depth > 8) return undefined;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  const known = byCode[code] ?? (error instanceof RangeError && noMemory.test(error.message) ? memory : undefined);
  return known ?? shortageIn(error.cause, depth + 1);
}
