/** Aborts when stdout fails: its reader stopped (`| head`), or its disk is full. */
export interface OutputGone {
  readonly signal: AbortSignal;
  dispose(): void;
}

/** Stops paying for answers without a reader. The program decides at its end whether this is an error. */
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
