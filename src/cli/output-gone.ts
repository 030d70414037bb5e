/** Ends when stdout takes no more: its reader went away (`| head`), or its disk is full. */
export interface OutputGone {
  readonly signal: AbortSignal;
  dispose(): void;
}

/** What nobody can read any more need not be paid for. Whether it is an error is told when the program ends. */
export function outputGone(stdout: NodeJS.WriteStream): OutputGone {
  const gone = new AbortController();
  const onError = (error: Error): void => {
    gone.abort(error);
  };
  stdout.on('error', onError);
  return {
    signal: gone.signal,
    dispose: () => {
      stdout.off('error', onError);
    },
  };
}
