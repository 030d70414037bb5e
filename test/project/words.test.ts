import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
const textsBelow = (folder: string, ending: string): string[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(ending))
    .map((name) => readFileSync(join(root, folder, name), 'utf8'));

const page = readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8');
const [, table = ''] = /^## Words\n([^]*?)\n## /m.exec(page) ?? [];
const rows = [...table.matchAll(/^\| (?!word |---)([^|]*) \| (.*) \|$/gm)];
const words = rows.map(([, word = '']) => word);

const sources = textsBelow('src', '.ts');
const exported = sources.flatMap((text) =>
  [...text.matchAll(/^export (?:abstract |async |declare )*(?:function\*?|class|const|interface|type) (\w+)/gm)].map(
    ([, name = '']) => name,
  ),
);
/** `openExport` has the words open and export. */
const namedWords = new Set(exported.flatMap((name) => name.match(/[A-Z]?[a-z]+|[A-Z]+/g) ?? []).map(singular));
const pages = [...textsBelow('docs', '.md'), readFileSync(join(root, 'README.md'), 'utf8')].join('\n');

function singular(word: string): string {
  return word.toLowerCase().replace(/(?<=ch|sh|x)es$|(?<!s)s$/, '');
}

describe('the words of ARCHITECTURE.md', () => {
  it('stand in a row each, once', () => {
    expect(words.length).toBeGreaterThan(20);
    expect(words).toEqual([...new Set(words)]);
    expect(words.filter((word) => !/^[a-z]+$/.test(word))).toEqual([]);
  });

  it.each(words)('%s is a word of exported names', (word) => {
    expect([...namedWords]).toContain(singular(word));
  });

  it.each(words)('%s is a word of the pages', (word) => {
    expect(pages).toMatch(new RegExp(String.raw`\b${word}(s|es)?\b`, 'i'));
  });

  it('have no two meanings', () => {
    const meanings = rows.map(([, , meaning]) => meaning);
    expect(meanings).toEqual([...new Set(meanings)]);
  });
});

// Words of our own, for which the field has others: `stretch` is a range, `sighting` a record.
it.each(['stretch', 'sighting', 'struck', 'peeked', 'letgo'])('%s is no word of exported names or pages', (word) => {
  expect([...namedWords].filter((named) => named === word)).toEqual([]);
  expect(pages).not.toMatch(new RegExp(String.raw`\b${word}(es|s)?\b`, 'i'));
});

it('ARCHITECTURE.md has lines of at most 140 characters', () => {
  expect(page.split('\n').filter((line) => line.length > 140)).toEqual([]);
});

it('the functions of the way of an id are in the files that it names', () => {
  const [, way = ''] = /```text\n([^]*?)```/.exec(page) ?? [];
  const lines = way.trimEnd().split('\n');
  expect(lines.length).toBeGreaterThan(10);
  for (const line of lines) {
    const [file = '', name = ''] = line.split(/\s+/);
    const text = readFileSync(join(root, 'src', file), 'utf8');
    expect(text, file).toMatch(new RegExp(String.raw`export (async )?(function\*?|class) ${name}\b`));
  }
});
