import { ExportError } from '../lib/export-error.ts';
import { type EndSignal, endProgram, endSignalNames, endSignals, toldToEnd } from './end-program.ts';

/** Two signals for a run: `stop` begins nothing new, `abort` ends what is under way. */
export interface StopSignals {
  readonly stop: AbortSignal;
  readonly abort: AbortSignal;
  /**
   * Takes the signals of the system until `dispose`. The first SIGINT or SIGTERM stops new calls and leaves what is under way up to
   * `graceMs`; the second ends the program at once. Both leave an export that can be continued. With `abort` the second ends
   * only what is under way, for a program that has to clean up when its threads are gone; the third ends that one.
   */
  listen(tell: (message: string) => void, second?: 'exit' | 'abort'): void;
  /** Gives the signals of the system back their usual meaning. */
  dispose(): void;
}

/** How many take the signals now. */
let listeners = 0;

/** Until `listen` is called, a signal ends the program as it does any other: nothing is under way yet. */
export function stopSignals(graceMs: number): StopSignals {
  const stop = new AbortController();
  const abort = new AbortController();
  let forget = (): void => undefined;

  function received(name: EndSignal, tell: (message: string) => void): void {
    const reason = new ExportError(endSignals[name], `stopped by ${name}`, {
      todo: 'Run the same command again to resume.',
    });
    const waits = 'waiting for answers in flight';
    tell(`${name}: no new calls; ${graceMs === 0 ? `not ${waits}` : `${waits} (signal again to stop at once)`}`);
    toldToEnd();
    stop.abort(reason);
    setTimeout(() => {
      abort.abort(reason);
    }, graceMs).unref();
  }

  return {
    stop: stop.signal,
    abort: abort.signal,
    listen: (tell, second = 'exit') => {
      const on = (name: EndSignal): void => {
        if (second === 'exit' ? stop.signal.aborted : abort.signal.aborted) endProgram(name);
        if (stop.signal.aborted) abort.abort(stop.signal.reason);
        else received(name, tell);
      };
      for (const name of endSignalNames) process.on(name, on);
      listeners += 1;
      forget = () => {
        for (const name of endSignalNames) process.off(name, on);
        listeners -= 1;
        forget = () => undefined;
      };
    },
    dispose: () => {
      forget();
    },
  };
}

/** The kernel gives signals no effect on the first process of a container, unless it takes them. */
export function endFirstProcess(): void {
  if (process.pid !== 1) return;
  for (const name of endSignalNames) {
    process.on(name, () => {
      if (listeners === 0) endProgram(name);
    });
  }
}
