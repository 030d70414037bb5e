import { isTerminal } from './is-terminal.ts';
import type { Terminal } from '../terminal.ts';
import type { LoggedRun, Progress, ProgressOptions } from './progress.ts';

/** Shows a run on stderr: a block that is redrawn on a terminal, log lines elsewhere. */
export async function showProgress(
  options: ProgressOptions,
  logged: LoggedRun,
  { stderr, env }: Pick<Terminal, 'stderr' | 'env'>,
): Promise<Progress> {
  if (isTerminal(stderr, env)) return (await import('./progress-block.ts')).progressOnTerminal(options, stderr);
  return (await import('./progress-log.ts')).progressInLog(options, logged, stderr);
}
