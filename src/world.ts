import { isFollowed } from './core/job/followed-job.ts';
import type { ExportRequest } from './core/run/export-assets.ts';
import type { ExportContext } from './core/run/export-context.ts';
import type { RunWings } from './core/run/run-wings.ts';
import type { ExportOutcome } from './core/run/export-outcome.ts';
import { noObserver, type OpenObserver } from './core/work/run-observer.ts';
import type { ExportPlan, PlanRequest } from './core/run/plan-export.ts';

/** The wings that a run may need. Each is loaded when a job asks for it. */
export const runWings = {
  nights: async () => (await import('./wings/nights/index.ts')).nights,
  report: async () => (await import('./wings/report/index.ts')).reportRun,
} satisfies RunWings;

/** Metrics, notifications and lineage, for a job that wants one of them. */
export const observe: OpenObserver = async (run) => {
  if (!isFollowed(run.job, process.env)) return noObserver;
  return (await import('./wings/observe/index.ts')).observeRuns(run);
};

/** `exportAssets` of the core, with all wings. @throws {ExportError} as it does */
export async function exportWithWings(request: ExportRequest, context: ExportContext): Promise<ExportOutcome> {
  const { exportAssets } = await import('./core/run/export-assets.ts');
  return exportAssets(request, { ...runWings, ...context });
}

/** `planExport` of the core, with all wings. */
export async function planWithWings(request: PlanRequest): Promise<ExportPlan> {
  const { planExport } = await import('./core/run/plan-export.ts');
  return planExport({ ...runWings, ...request });
}
