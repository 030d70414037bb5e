import { exportAssets, type ExportRequest } from './core/run/export-assets.ts';
import type { ExportContext } from './core/run/export-context.ts';
import type { RunWings } from './core/run/run-wings.ts';
import type { ExportOutcome } from './core/run/export-outcome.ts';
import { type ExportPlan, planExport, type PlanRequest } from './core/run/plan-export.ts';

/** The wings that a run may need. Each is loaded when a job asks for it. */
export const runWings = {
  nights: async () => (await import('./wings/nights/index.ts')).nights,
  report: async () => (await import('./wings/report/report-run.ts')).reportRun,
} satisfies RunWings;

/** `exportAssets` of the core, with all wings. @throws {ExportError} as it does */
export function exportWithWings(request: ExportRequest, context: ExportContext): Promise<ExportOutcome> {
  return exportAssets(request, { ...runWings, ...context });
}

/** `planExport` of the core, with all wings. */
export function planWithWings(request: PlanRequest): Promise<ExportPlan> {
  return planExport({ ...runWings, ...request });
}
