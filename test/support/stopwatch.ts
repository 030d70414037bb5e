import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Measures the milliseconds until it is read, without those in which threads of these processes waited for a core: what is promised
 * of a time holds beside busy programs too, but for that. Of the process of the test its first thread alone counts: a test does not
 * wait for those that collect garbage. Only Linux says how long a thread waited; elsewhere all time counts.
 * @param pids of processes that are waited for, beside the one of the test
 */
export function startStopwatch(...pids: readonly number[]): () => number {
  const startedMs = performance.now();
  const before = new Map<string, number>();
  const latest = new Map<string, number>();
  const look = (seen: Map<string, number>): void => {
    for (const thread of [`/proc/self/task/${process.pid}`, ...pids.flatMap(threadsOf)]) {
      const ms = waitedMs(thread);
      if (ms !== undefined) seen.set(thread, ms);
    }
  };
  look(before);
  // What has ended tells no more.
  const looking = setInterval(look, 50, latest).unref();
  return () => {
    clearInterval(looking);
    look(latest);
    const waited = [...latest].reduce((sum, [thread, ms]) => sum + ms - (before.get(thread) ?? 0), 0);
    return performance.now() - startedMs - waited;
  };
}

function threadsOf(pid: number): string[] {
  const folder = `/proc/${pid}/task`;
  try {
    return readdirSync(folder).map((thread) => join(folder, thread));
  } catch {
    return [];
  }
}

/** How long a thread was ready and had no core; not known of one that has ended. */
function waitedMs(thread: string): number | undefined {
  try {
    return Number(readFileSync(join(thread, 'schedstat'), 'utf8').split(' ')[1]) / 1e6;
  } catch {
    return undefined;
  }
}
