/** Lines of shell in a paper, with what it says they print. */
export interface ShellBlock {
  /** `README.md:21` */
  readonly place: string;
  readonly script: string;
  readonly exit: number;
  /** Run on a terminal, where a run shows no log lines. */
  readonly onTerminal: boolean;
  /** Undefined where the paper shows no output. */
  readonly output: string | undefined;
}

/**
 * The fenced `sh` and `js` blocks of a Markdown text. A `text` block that follows one directly, or with words alone between, is
 * its output; `sh exit=8` says that the last command ends with that status, `sh terminal` that it runs on a terminal.
 */
export function shellBlocks(name: string, text: string): ShellBlock[] {
  const blocks: ShellBlock[] = [];
  const fence = /^```(\w*)( terminal)?(?: exit=(\d+))?\n([\s\S]*?)^```$/gm;
  for (const match of text.matchAll(fence)) {
    const [whole, language = '', terminal, exit = '0', body = ''] = match;
    const before = text.slice(0, match.index);
    if (language === 'sh' || language === 'js') {
      const line = before.split('\n').length;
      blocks.push({
        place: `${name}:${line}`,
        script: language === 'sh' ? body : `node --input-type=module <<'JS'\n${body}JS\n`,
        exit: Number(exit),
        onTerminal: terminal !== undefined,
        output: undefined,
      });
    } else if (language === 'text' && !whole.includes('--help, -h')) {
      const last = blocks.at(-1);
      const between = before.slice(before.lastIndexOf('```') + 3);
      if (last?.output === undefined && last !== undefined && !/^(#|<!--)/m.test(between)) {
        blocks[blocks.length - 1] = { ...last, output: body };
      }
    }
  }
  return blocks;
}

/** A text without what differs from run to run: times, sizes, log lines, the width of columns. */
export function steadyText(text: string): string {
  return text
    .split('\n')
    .filter((line) => !line.startsWith('{"level":'))
    .map((line) =>
      line
        .replaceAll(/\d+(\.\d+)? (ms|s|min|h|d)\b/g, 'TIME')
        .replaceAll(/\d+(\.\d+)? ([kMGTP]?B)\b/g, 'SIZE')
        .replaceAll(/\s+/g, ' ')
        .trim(),
    )
    .filter((line) => line !== '')
    .join('\n');
}

/** Whether a shown output is what came; a line `…` stands for any lines, or none. */
export function outputPattern(shown: string): RegExp {
  const parts = steadyText(shown)
    .split('\n')
    .map((line) => (line === '…' ? '(?:.*\n)*?' : `${line.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)}\n`));
  return new RegExp(`^${parts.join('')}$`);
}
