import { availableParallelism } from 'node:os';
import type { Job } from '../core/job/job-schema.ts';
import { packageRoot } from '../lib/packages/package-root.ts';
import type { ExportContext } from '../core/run/export-context.ts';
import { startWorker } from '../core/work/threads/start-worker.ts';

/** Path of the thread entry, which `build.ts` bundles. */
const entry = new URL('dist/worker.js', packageRoot);

/** The threads that a job may use. */
export function programThreads({ output }: Job): NonNullable<ExportContext['threads']> {
  return {
    most: output.threads ?? availableParallelism(),
    start: (settings) => startWorker(entry, settings),
  };
}
