import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Thread, ThreadSettings } from './offers.ts';

/** Starts a thread of Node. The entry is a file of JavaScript: the built one. */
export function startWorker(entry: URL, settings: ThreadSettings): Thread {
  const worker = new Worker(entry, { workerData: settings });
  // Rejects with what the thread throws, running out of memory included.
  const gone = once(worker, 'exit').then(([code]: unknown[]) => {
    if (code !== 0) throw new Error(`thread ${settings.thread} ended with status ${String(code)}`);
  });
  return { port: worker, gone };
}
