import { ExportError } from '../lib/export-error.ts';
import { type EndSignal, endSignalNames, endSignals, type Terminal } from './terminal.ts';

/** Two signals for a run: `stop` begins nothing new, `abort` ends what is under way. */
export interface StopSignals {
  readonly stop: AbortSignal;
  readonly abort: AbortSignal;
  /**
   * Takes the signals of the system until `dispose`. The first of SIGINT, SIGTERM and SIGHUP stops new calls and leaves what is under way up to
   * `graceMs`; the second ends the program at once. Both leave an export that can be continued. With `abort` the second ends
   * only what is under way, for a program that has to clean up when its threads are gone; the third ends that one.
   */
  listen(tell: (message: string) => void, second?: 'exit' | 'abort'): void;
  /** Gives the signals of the system back their usual meaning. */
  dispose(): void;
}

/** Until `listen` is called, a signal ends the program as it does any other: nothing is under way yet. */
export function stopSignals(
  graceMs: number,
  terminal: Pick<Terminal, 'onSignal' | 'toldToEnd' | 'endBy'>,
): StopSignals {
  const stop = new AbortController();
  const abort = new AbortController();
  let forget = (): void => undefined;

  function received(name: EndSignal, tell: (message: string) => void): void {
    const reason = new ExportError(endSignals[name], `stopped by ${name}`, {
      todo: 'Run the same command again to resume.',
    });
    const waits = 'waiting for answers in flight';
    tell(`${name}: no new calls; ${graceMs === 0 ? `not ${waits}` : `${waits} (signal again to stop at once)`}`);
    terminal.toldToEnd();
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
        if (second === 'exit' ? stop.signal.aborted : abort.signal.aborted) terminal.endBy(name);
        if (stop.signal.aborted) abort.abort(stop.signal.reason);
        else received(name, tell);
      };
      const taken = endSignalNames.map((name) =>
        terminal.onSignal(name, () => {
          on(name);
        }),
      );
      forget = () => {
        for (const giveBack of taken) giveBack();
        forget = () => undefined;
      };
    },
    dispose: () => {
      forget();
    },
  };
}

/** Resolves at the first signal that ends a program. */
export function untilSignal({ onSignal }: Pick<Terminal, 'onSignal'>): Promise<void> {
  return new Promise((resolve) => {
    for (const name of endSignalNames) {
      const giveBack = onSignal(name, () => {
        giveBack();
        resolve();
      });
    }
  });
}
