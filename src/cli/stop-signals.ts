import { exitCodes } from '../lib/exit-codes.ts';
import { ExportError } from '../lib/export-error.ts';

/** Two signals for a run: `stop` begins nothing new, `abort` ends what is in flight. */
export interface StopSignals {
  readonly stop: AbortSignal;
  readonly abort: AbortSignal;
  /** Gives the signals of the system back their usual meaning. */
  dispose(): void;
}

/**
 * The first SIGINT or SIGTERM stops new calls and leaves those in flight up to `graceMs`; the second ends the program at
 * once. Both leave an export that can be continued. With `abort` the second ends only what is in flight, for a program that
 * has to clean up when its threads are gone; the third ends that one.
 */
export function stopSignals(
  graceMs: number,
  tell: (message: string) => void,
  second: 'exit' | 'abort' = 'exit',
): StopSignals {
  const stop = new AbortController();
  const abort = new AbortController();
  let grace: NodeJS.Timeout | undefined;

  const on = (exit: 'interrupted' | 'terminated', name: string) => (): void => {
    if (second === 'exit' ? stop.signal.aborted : abort.signal.aborted) process.exit(exitCodes[exit].code);
    if (stop.signal.aborted) {
      abort.abort(stop.signal.reason);
      return;
    }
    const reason = new ExportError(exit, `stopped by ${name}`, { todo: 'Run the same command again to resume.' });
    const waits = 'waiting for answers in flight';
    tell(`${name}: no new calls; ${graceMs === 0 ? `not ${waits}` : `${waits} (signal again to stop at once)`}`);
    stop.abort(reason);
    grace = setTimeout(() => {
      abort.abort(reason);
    }, graceMs);
    grace.unref();
  };
  const onInterrupt = on('interrupted', 'SIGINT');
  const onTerminate = on('terminated', 'SIGTERM');
  process.on('SIGINT', onInterrupt);
  process.on('SIGTERM', onTerminate);
  return {
    stop: stop.signal,
    abort: abort.signal,
    dispose: () => {
      clearTimeout(grace);
      process.off('SIGINT', onInterrupt);
      process.off('SIGTERM', onTerminate);
    },
  };
}
