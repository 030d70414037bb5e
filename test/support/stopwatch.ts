import { namesIn, textOf } from './process-files.ts';

/** How often a stopwatch looks, in milliseconds. */
const everyMs = 50;

/**
 * Measures the milliseconds until it is read, without those in which threads waited for a core: what is promised of a time holds beside
 * busy programs too, but for that. Only Linux says how long a thread waited; elsewhere all time counts. Of another process all threads
 * count, and the test may be late to see what it did, as while it collects garbage: that is left out, too. Of its own process the first
 * thread alone counts: it does not wait for those that collect garbage.
 * @param pid of the other process that is measured; without it, the test's own is
 */
export function startStopwatch(pid?: number): () => number {
  const startedMs = performance.now();
  const before = new Map<string, number>();
  const latest = new Map<string, number>();
  let [lookedMs, lateMs] = [startedMs, 0];
  const look = (seen: Map<string, number>): void => {
    const nowMs = performance.now();
    if (pid !== undefined) lateMs += Math.max(0, nowMs - lookedMs - everyMs);
    lookedMs = nowMs;
    for (const thread of pid === undefined ? [`/proc/self/task/${process.pid}`] : threadsOf(pid)) {
      // How long it was ready and had no core, in nanoseconds.
      const [, waited] = textOf(`${thread}/schedstat`).split(' ');
      if (waited !== undefined) seen.set(thread, Number(waited) / 1e6);
    }
  };
  look(before);
  // What has ended tells no more.
  const looking = setInterval(look, everyMs, latest).unref();
  return () => {
    clearInterval(looking);
    look(latest);
    const waitedMs = [...latest].reduce((sum, [thread, ms]) => sum + ms - (before.get(thread) ?? 0), 0);
    return performance.now() - startedMs - lateMs - waitedMs;
  };
}

function threadsOf(pid: number): string[] {
  return namesIn(`/proc/${pid}/task`).map((thread) => `/proc/${pid}/task/${thread}`);
}
