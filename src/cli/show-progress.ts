import type { Progress, ProgressOptions } from './progress.ts';

/** Shows a run on stderr: a block that is redrawn on a terminal, log lines elsewhere. */
export async function showProgress(options: ProgressOptions): Promise<Progress> {
  if (process.stderr.isTTY) return (await import('./progress-block.ts')).progressOnTerminal(options);
  return (await import('./progress-log.ts')).progressInLog(options);
}
