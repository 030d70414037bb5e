import { createLogUpdate } from 'log-update';

/** Lines on a terminal that are redrawn in place. */
export interface RedrawnBlock {
  /** A message above the lines. */
  tell(message: string): void;
  /** Takes the lines away. */
  end(): void;
}

const redrawMs = 200;

/** Shows what `text` gives for the terminal's width, five times a second. */
export function redrawnBlock(text: (columns: number) => string, terminal: NodeJS.WriteStream): RedrawnBlock {
  const block = createLogUpdate(terminal);
  const draw = (): void => {
    block(text(terminal.columns || 80));
  };
  const timer = setInterval(draw, redrawMs);
  timer.unref();
  return {
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
