import { isFollowed } from '../core/job/job-traits.ts';
import type { RunWings } from '../core/run/run-wings.ts';
import { noObserver, type OpenObserver } from '../core/work/run-observer.ts';

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
