import { createLogUpdate } from 'log-update';
import { addEvent, newProgressState } from './progress-state.ts';
import { progressBlock } from './progress-text.ts';
import { progressView, speedometer } from './progress-view.ts';
import type { Progress, ProgressOptions } from './progress.ts';

const redrawMs = 200;

/** A block on stderr that is redrawn, and gone at the end. */
export function progressOnTerminal(options: ProgressOptions, terminal: NodeJS.WriteStream = process.stderr): Progress {
  const state = newProgressState();
  const speed = speedometer(options.clock, state);
  const block = createLogUpdate(terminal);
  const draw = (): void => {
    block(progressBlock(progressView(options, state, speed()), terminal.columns || 80));
  };
  const timer = setInterval(draw, redrawMs);
  timer.unref();
  return {
    listener: (event) => {
      addEvent(state, event);
    },
    tell: (message) => {
      block.clear();
      terminal.write(`${message}\n`);
      draw();
    },
    end: () => {
      clearInterval(timer);
      block.clear();
      block.done();
    },
  };
}
