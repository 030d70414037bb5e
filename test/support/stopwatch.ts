import { readdirSync, readFileSync } from 'node:fs';

/**
 * Measures the milliseconds until it is read, without those in which threads of these processes waited for a core: what is promised
 * of a time holds beside busy programs too, but for that. Only Linux says how long a thread waited; elsewhere all time counts.
 * @param pids of processes that are waited for, beside the one of the test
 */
export function startStopwatch(...pids: readonly number[]): () => number {
  const startedMs = performance.now();
  const before = new Map<string, number>();
  const latest = new Map<string, number>();
  const look = (seen: Map<string, number>): void => {
    for (const process of ['self', ...pids.map(String)])
      for (const [thread, ms] of waits(process)) seen.set(thread, ms);
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

/** How long each thread of a process was ready and had no core, in milliseconds. */
function waits(process: string): [thread: string, ms: number][] {
  const folder = `/proc/${process}/task`;
  try {
    return readdirSync(folder).map((thread) => {
      return [thread, Number(readFileSync(`${folder}/${thread}/schedstat`, 'utf8').split(' ')[1]) / 1e6];
    });
  } catch {
    return [];
  }
}
