import { once } from 'node:events';
import { MessageChannel } from 'node:worker_threads';
import type { ExportContext } from '../../src/core/run/export-context.ts';
import { runThread } from '../../src/core/work/threads/run-thread.ts';

export interface ThreadsHere {
  readonly threads: NonNullable<ExportContext['threads']>;
  /** How many were started. */
  started(): number;
}

/** Threads that run in this one, over the same messages: with a clock, files and a wire of the test. */
export function threadsHere(most: number, effects: Parameters<typeof runThread>[2]): ThreadsHere {
  let started = 0;
  return {
    started: () => started,
    threads: {
      most,
      start: (settings) => {
        started += 1;
        const { port1, port2 } = new MessageChannel();
        // What crosses is copied, as it is for a real thread.
        const ended = runThread(port2, structuredClone(settings), effects).finally(() => {
          port2.close();
        });
        const closed = once(port1, 'close');
        return { port: port1, gone: Promise.all([ended, closed]).then(() => undefined) };
      },
    },
  };
}
