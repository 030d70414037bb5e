import { isFollowed, type Job } from '../core/job/job-schema.ts';
import type { RunWings } from '../core/run/nights.ts';
import { noObserver, type OpenObserver } from '../core/work/run-observer.ts';
import { availableParallelism } from 'node:os';
import { packageRoot } from '../lib/packages/package-root.ts';
import type { ExportContext } from '../core/run/export-context.ts';
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Thread, ThreadSettings } from '../core/work/threads/offers.ts';

/** The wings that a run may need. Each is loaded when a job asks for it. */
export const runWings = {
  lake: async () => (await import('../wings/lake/index.ts')).lakeFollower,
  nights: async () => (await import('../wings/nights/index.ts')).nights,
  report: async () => (await import('../wings/report/index.ts')).reportRun,
} satisfies RunWings;

/** Metrics, notifications and lineage, for a job that wants one of them. @param env may name who takes the lineage of all jobs */
export function observeIn(env: NodeJS.ProcessEnv): OpenObserver {
  return async (run) => {
    if (!isFollowed(run.job, env)) return noObserver;
    return (await import('../wings/observe/index.ts')).observeRuns(run, env);
  };
}

/** Path of the thread entry, which `build.ts` bundles. */
const entry = new URL('dist/worker.js', packageRoot);

/** The threads that a job may use. */
export function programThreads({ output }: Job): NonNullable<ExportContext['threads']> {
  return {
    most: output.threads ?? availableParallelism(),
    start: (settings) => startWorker(entry, settings),
  };
}

/** Starts a thread of Node. The entry is a file of JavaScript: the built one. */
function startWorker(entry: URL, settings: ThreadSettings): Thread {
  const worker = new Worker(entry, { workerData: settings });
  // Rejects with what the thread throws, running out of memory included.
  const gone = once(worker, 'exit').then(([code]: unknown[]) => {
    if (code !== 0) throw new Error(`thread ${settings.thread} ended with status ${String(code)}`);
  });
  return { port: worker, gone };
}
