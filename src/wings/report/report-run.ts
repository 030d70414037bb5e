import { messageOf } from '../../lib/export-error.ts';
import type { ExportContext } from '../../core/run/export-context.ts';
import type { TableQuality } from '../../core/work/run-observer.ts';
import type { ExportPlace } from '../../core/run/homes/export-place.ts';

/**
 * Writes the report of a run that ended, and gives what it counted in the tables; undefined where it counted nothing. A report
 * that fails changes no outcome.
 */
export async function reportRun(
  place: ExportPlace,
  {
    clock,
    version,
    stop,
    abort,
    listener,
  }: Pick<ExportContext, 'clock' | 'version' | 'listener'> & Partial<Pick<ExportContext, 'stop' | 'abort'>>,
): Promise<readonly TableQuality[] | undefined> {
  if (abort?.aborted === true) return undefined;
  try {
    const { reportExport } = await import('./report-export.ts');
    // Who interrupted the run does not wait for a profile of all rows.
    const extent = stop?.aborted === true ? 'none' : undefined;
    const { profile } = await reportExport({ place, nowMs: clock.now(), version, extent });
    return profile?.tables;
  } catch (error) {
    listener({ kind: 'warning', message: `no report: ${messageOf(error)}` });
    return undefined;
  }
}
