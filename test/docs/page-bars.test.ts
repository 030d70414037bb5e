import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { lexer, type Token, type Tokens } from 'marked';
import { describe, expect, it } from 'vitest';
import { commands } from '../../src/cli/commands.ts';
import { commandHelp, programHelp } from '../../src/cli/output/help-text.ts';

const root = new URL('../../', import.meta.url);
const textOf = (path: string): string => readFileSync(fileURLToPath(new URL(path, root)), 'utf8');
const linesOf = (text: string): number => text.trimEnd().split('\n').length;

/** All pages but the one of commands, which is a list of flags. */
const pages = [
  ...['README.md', 'ARCHITECTURE.md', 'CHANGELOG.md', '.github/CONTRIBUTING.md', '.github/SECURITY.md'],
  ...readdirSync(fileURLToPath(new URL('docs', root)))
    .filter((name) => name.endsWith('.md') && name !== 'cli.md')
    .map((name) => `docs/${name}`),
];

const mostWords = 25;
const mostCellWords = 15;
/** Two lines of a wide editor. */
const mostItemLetters = 280;

function wordsOf(text: string): number {
  return text.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length;
}

/** What a reader reads: code counts as one word, links by their text. */
function readText(tokens: readonly Token[] = []): string {
  return tokens
    .map((token) => {
      if (token.type === 'codespan') return 'code';
      if (token.type === 'html' || token.type === 'image') return '';
      return 'tokens' in token ? readText(token.tokens) : 'text' in token ? String(token.text) : ' ';
    })
    .join('');
}

function sentencesOf(text: string): string[] {
  return text.replaceAll('\n', ' ').split(/(?<=[.!?]\)?)\s+/u);
}

/** What is too long to be read once, in the words of the page. */
function tooLong(page: string): string[] {
  const found: string[] = [];
  const visit = (tokens: readonly Token[]): void => {
    for (const token of tokens) {
      if (token.type === 'paragraph' || token.type === 'text') {
        const read = readText((token as Tokens.Paragraph).tokens);
        found.push(...sentencesOf(read).filter((sentence) => wordsOf(sentence) > mostWords));
      } else if (token.type === 'table') {
        const { header, rows } = token as Tokens.Table;
        const cells = [header, ...rows].flat().map((cell) => readText(cell.tokens));
        found.push(...cells.filter((cell) => wordsOf(cell) > mostCellWords));
      } else if (token.type === 'list') {
        for (const { tokens: own } of (token as Tokens.List).items) {
          const text = readText(own.filter(({ type }) => type === 'text' || type === 'paragraph'));
          if (text.length > mostItemLetters) found.push(text);
          visit(own);
        }
      } else if (token.type === 'blockquote') visit((token as Tokens.Blockquote).tokens);
    }
  };
  visit(lexer(textOf(page)));
  return found;
}

/** What `wc -w` counts: code blocks, tables and generated lists too. */
function countedWords(page: string): number {
  return textOf(page).split(/\s+/).filter(Boolean).length;
}

describe('a page is read once', () => {
  it.each(pages)('%s has no sentence, cell or list item that is too long', (page) => {
    expect(tooLong(page)).toEqual([]);
  });

  it('the pages of a user and of the code have at most 25,000 words', () => {
    const counted = pages.filter((page) => /^(README|ARCHITECTURE|docs\/)/.test(page));
    expect(counted.reduce((sum, page) => sum + countedWords(page), 0)).toBeLessThanOrEqual(25_000);
  });

  it('the speed of a core is one figure', () => {
    const figures = pages.flatMap((page) => [...textOf(page).matchAll(/([\d,]+) assets a CPU second/g)]);
    expect(figures.length).toBeGreaterThan(1);
    expect(new Set(figures.map(([, figure]) => figure))).toEqual(new Set(['60,000']));
  });

  it.each([
    ['README.md', 90],
    ['ARCHITECTURE.md', 90],
    ['CHANGELOG.md', 60],
    ['docs/cli.md', 900],
  ])('%s has at most %i lines', (page, most) => {
    expect(linesOf(textOf(page))).toBeLessThanOrEqual(most);
  });

  it('help fits on a screen, and that of a command on two', async () => {
    expect(linesOf(programHelp(commands, 80))).toBeLessThanOrEqual(45);
    const long = await Promise.all(
      commands.map(async ({ name, load }) => [name, linesOf(commandHelp(await load(), 80))] as const),
    );
    expect(long.filter(([, lines]) => lines > 60)).toEqual([]);
  });
});
