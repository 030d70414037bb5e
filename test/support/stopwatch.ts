import { readFileSync } from 'node:fs';

/**
 * Measures the milliseconds until it is read, without those in which these processes waited for a core: what is promised of a time
 * holds beside busy programs too, but for that. Only Linux says how long a process waited; elsewhere all time counts.
 * @param pids of processes that are waited for, beside the one of the test
 */
export function startStopwatch(...pids: readonly number[]): () => number {
  const processes = ['self', ...pids.map(String)];
  const startedMs = performance.now();
  const before = processes.map(waitedMs);
  const waited = processes.map(() => 0);
  const look = (): void => {
    for (const [index, process] of processes.entries())
      waited[index] = Math.max(waited[index] ?? 0, waitedMs(process) - (before[index] ?? 0));
  };
  // A process that has ended tells no more.
  const looking = setInterval(look, 20).unref();
  return () => {
    clearInterval(looking);
    look();
    return performance.now() - startedMs - waited.reduce((sum, ms) => sum + ms, 0);
  };
}

/** How long the main thread of a process was ready and had no core. */
function waitedMs(process: string): number {
  try {
    return Number(readFileSync(`/proc/${process}/schedstat`, 'utf8').split(' ')[1]) / 1e6;
  } catch {
    return 0;
  }
}
