import { createLogUpdate } from 'log-update';
import type { TerminalOutput } from '../stop-signals.ts';

const redrawMs = 200;

/** The window's title (OSC 2), and what keeps the one that is there and brings it back (XTWINOPS 22 and 23). */
const setTitle = (title: string): string => `\u001b]2;${title}\u0007`;
const keepTitle = '\u001b[22;2t';
const restoreTitle = '\u001b[23;2t';

/**
 * Shows what `draw` gives for the terminal's width, five times a second. Its title is that of the terminal's window or tab.
 * @returns `tell` writes a message above the lines, `end` takes them away
 */
export function redrawnBlock(
  draw: (columns: number) => { readonly text: string; readonly title?: string },
  terminal: TerminalOutput,
): { tell(message: string): void; end(): void } {
  const block = createLogUpdate(terminal);
  let shownTitle: string | undefined;
  const redraw = (): void => {
    const { text, title } = draw(terminal.columns || 80);
    if (title !== undefined && title !== shownTitle) {
      terminal.write(`${shownTitle === undefined ? keepTitle : ''}${setTitle(title)}`);
      shownTitle = title;
    }
    block(text);
  };
  const timer = setInterval(redraw, redrawMs);
  timer.unref();
  return {
    tell: (message) => {
      block.clear();
      terminal.write(`${message}\n`);
      redraw();
    },
    end: () => {
      clearInterval(timer);
      block.clear();
      block.done();
      if (shownTitle !== undefined) terminal.write(restoreTitle);
    },
  };
}
