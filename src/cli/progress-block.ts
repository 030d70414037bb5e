import { addEvent, newProgressState } from './progress-state.ts';
import { progressBlock } from './progress-text.ts';
import { progressView, speedometer } from './progress-view.ts';
import type { Progress, ProgressOptions } from './progress.ts';
import { redrawnBlock } from './redrawn-block.ts';

/** A block on stderr that is redrawn, and gone at the end. */
export function progressOnTerminal(options: ProgressOptions, terminal: NodeJS.WriteStream = process.stderr): Progress {
  const state = newProgressState();
  const speed = speedometer(options.clock, state);
  const block = redrawnBlock((columns) => progressBlock(progressView(options, state, speed()), columns), terminal);
  return {
    ...block,
    listener: (event) => {
      addEvent(state, event);
    },
  };
}
