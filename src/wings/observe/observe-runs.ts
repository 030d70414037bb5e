import { hasMetrics, mayHaveLineage } from '../../core/job/job-schema.ts';
import { messageOf } from '../../lib/export-error.ts';
import type { RunListener } from '../../core/work/run-events.ts';
import { joinedObservers, type ObservedRun, type RunObserver } from '../../core/work/run-observer.ts';

/** Follows runs as their jobs want: metrics, notifications, lineage. What a job does not want is not loaded. */
export async function observeRuns(run: ObservedRun, env: NodeJS.ProcessEnv = process.env): Promise<RunObserver> {
  const observers: RunObserver[] = [];
  // First, as it alone can refuse.
  if (hasMetrics(run.job)) observers.push(await (await import('./publish-metrics.ts')).publishMetrics(run));
  if (run.job.notify.length > 0) observers.push((await import('./notify.ts')).notifyOf(run));
  if (mayHaveLineage(run.job, env)) {
    const { lineageAddress, lineageOf } = await import('./lineage.ts');
    const address = lineageAddress(run, env);
    if (address !== undefined) observers.push(lineageOf(run, address, env));
  }
  return joinedObservers(observers.map((observer) => harmless(observer, run.listener)));
}

/** An observer whose own faults are one warning: an observer never fails a run. */
function harmless(observer: RunObserver, listener: RunListener): RunObserver {
  let hasFailed = false;
  const failed = (error: unknown): void => {
    if (!hasFailed)
      listener({ kind: 'warning', message: `metrics, notifications or lineage stopped: ${messageOf(error)}` });
    hasFailed = true;
  };
  return {
    listener: (event) => {
      try {
        if (!hasFailed) observer.listener(event);
      } catch (error) {
        failed(error);
      }
    },
    end: (end) => observer.end(end).catch(failed),
  };
}
