import type { Terminal } from '../stop-signals.ts';
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

/** Whether a person reads a stream on a terminal that can redraw lines. CI systems and `TERM=dumb` cannot. */
export function isTerminal(
  stream: { readonly isTTY?: boolean },
  { CI = '', TERM = '' }: Readonly<Record<string, string | undefined>>,
): boolean {
  return stream.isTTY === true && TERM !== 'dumb' && ['', 'false', '0'].includes(CI);
}
