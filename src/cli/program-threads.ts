import { availableParallelism } from 'node:os';
import type { Job } from '../job/job-schema.ts';
import type { ExportContext } from '../pipeline/export-context.ts';
import { startWorker } from '../pipeline/threads/start-worker.ts';
import { letHeapsGrow } from './heap-limits.ts';

/** As a thread finds it: beside the built program. */
const entry = new URL('../pipeline/threads/worker-entry.js', import.meta.url);

/** The threads that a job may use. As long as it starts none, the heap is that of one. */
export function programThreads({ output }: Job): NonNullable<ExportContext['threads']> {
  return {
    most: output.threads ?? availableParallelism(),
    start: (settings) => {
      letHeapsGrow();
      return startWorker(entry, settings);
    },
  };
}
