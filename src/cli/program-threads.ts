import { availableParallelism } from 'node:os';
import { setFlagsFromString } from 'node:v8';
import type { Job } from '../job/job-schema.ts';
import type { ExportContext } from '../pipeline/export-context.ts';
import { startWorker } from '../pipeline/threads/start-worker.ts';

/** As a thread finds it: beside the built program. */
const entry = new URL('../pipeline/threads/worker-entry.js', import.meta.url);

/** The threads that a job may use. */
export function programThreads({ output }: Job): NonNullable<ExportContext['threads']> {
  return {
    most: output.threads ?? availableParallelism(),
    start: (settings) => {
      // The heap of one of several is small, and would be looked through all the time: this is said for all heaps, and heeded at once.
      setFlagsFromString('--heap-growing-percent=150');
      return startWorker(entry, settings);
    },
  };
}
