import type { TerminalOutput } from '../stop-signals.ts';
import { ProgressState } from './progress-state.ts';
import { progressBlock, progressTitle } from './progress-text.ts';
import type { Progress, ProgressOptions } from './progress.ts';
import { redrawnBlock } from './redrawn-block.ts';

/** A block on stderr that is redrawn, and gone at the end. */
export function progressOnTerminal(options: ProgressOptions, terminal: TerminalOutput): Progress {
  const state = new ProgressState(options);
  const block = redrawnBlock((columns) => {
    const facts = state.look();
    return { text: progressBlock(facts, columns), title: progressTitle(facts) };
  }, terminal);
  return {
    ...block,
    listener: (event) => {
      state.add(event);
    },
  };
}
