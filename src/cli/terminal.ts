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
