import { namesIn, textOf } from './process-files.ts';

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
    const others = pids.flatMap((pid) => namesIn(`/proc/${pid}/task`).map((thread) => `/proc/${pid}/task/${thread}`));
    for (const thread of [`/proc/self/task/${process.pid}`, ...others]) {
      // How long it was ready and had no core, in nanoseconds.
      const [, waited] = textOf(`${thread}/schedstat`).split(' ');
      if (waited !== undefined) seen.set(thread, Number(waited) / 1e6);
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
