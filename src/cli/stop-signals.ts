import { ExportError } from '../lib/export-error.ts';

/** The signals that end a program, and how an end by each is called. */
export const endSignals = { SIGINT: 'interrupted', SIGTERM: 'terminated', SIGHUP: 'hungUp' } as const;
export type EndSignal = keyof typeof endSignals;
export const endSignalNames = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const satisfies readonly EndSignal[];
export type TerminalOutput = NodeJS.WritableStream & { readonly isTTY?: boolean; readonly columns?: number };

/** What a command uses of the process that runs it. The program gives its own; tests give one in memory. */
export interface Terminal {
  readonly stdin: NodeJS.ReadableStream & AsyncIterable<Uint8Array> & { readonly isTTY?: boolean };
  readonly stdout: TerminalOutput;
  readonly stderr: TerminalOutput;
  /** The key is taken out of it. */
  readonly env: Record<string, string | undefined>;
  readonly cwd: () => string;
  /** Takes a signal of the system until the returned function gives it back its usual meaning. */
  readonly onSignal: (name: EndSignal, listener: () => void) => () => void;
  /** A signal told the program to end: it waits for no socket then. */
  readonly toldToEnd: () => void;
  /** Ends the program at once, with the status of a signal. */
  readonly endBy: (name: EndSignal) => void;
  /** Calls a listener when the program ends, however that is. */
  readonly onExit: (listener: () => void) => void;
}

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
