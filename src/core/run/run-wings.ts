import { ExportError } from '../../lib/export-error.ts';
import type { Job } from '../job/job-schema.ts';
import type { TableQuality } from '../work/run-observer.ts';
import type { ExportContext } from './export-context.ts';
import type { ExportPlace } from './homes/export-place.ts';
import type { Following, Nights } from './nights.ts';

/** What a job may ask for beyond the way of an id. Loaded for such jobs alone; `src/world/wings.ts` has all of them. */
export interface RunWings extends Following {
  /** For exports with a base or a date, and for `output.latest` and `output.keep`. */
  readonly nights?: (() => Promise<Nights>) | undefined;
  /** For `output.report`. */
  readonly report?: (() => Promise<ReportRun>) | undefined;
}

/** What writes the report of a job that wants one; undefined for another job. @throws {ExportError} `usage` where the program has none */
export function reportFor({ output }: Pick<Job, 'output'>, { report }: RunWings): RunWings['report'] {
  if (!output.report) return undefined;
  if (report !== undefined) return report;
  throw new ExportError('usage', 'output.report needs reports, which this program left out', {
    todo: 'Give the context a member report.',
  });
}

/**
 * Writes the report of a run that ended, and gives what it counted in the tables; undefined where it counted nothing. A report that
 * fails changes no outcome.
 */
export type ReportRun = (
  place: ExportPlace,
  context: Pick<ExportContext, 'clock' | 'version' | 'listener'> & Partial<Pick<ExportContext, 'stop' | 'abort'>>,
) => Promise<readonly TableQuality[] | undefined>;
