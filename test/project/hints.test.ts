import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { commands } from '../../src/cli/commands.ts';
import { helpPages } from '../../src/cli/output/help-text.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

// Promise, The first hour: No message or help names a file that only a clone has
it('no message or help names a file that only a clone has', () => {
  const named = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .flatMap((name) => readFileSync(join(root, 'src', name), 'utf8').split('\n'))
    .filter((line) => !/^\s*(\*|\/\*|\/\/)/.test(line) && !line.includes('new URL('))
    .filter((line) => /['"`].*\b(jobs|data|docs|test|out)\/(demo|[\w-]+\.\w+)/.test(line));
  expect(named).toEqual([]);
});

it('a command in a message is one that there is, with flags that it has', async () => {
  const texts = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .flatMap((name) => readFileSync(join(root, 'src', name), 'utf8').split('\n'))
    .filter((line) => !/^\s*(\*|\/\*|\/\/)/.test(line));
  const named = texts.flatMap((line) => [
    ...[...line.matchAll(/asset-export ([a-z]+)((?: (?!asset-export)[^\s()`',.;]+)*)/g)].map((match) => match.slice(1)),
    ...[...line.matchAll(/commandLine\('([a-z]+)'([^)]*)\)/g)].map((match) => match.slice(1)),
  ]);
  const wrong: string[] = [];
  for (const [command = '', words = ''] of named) {
    // Words of a sentence: "another version of asset-export wrote it".
    const entry = commands.find(({ name }) => name === command);
    const flags = [...words.matchAll(/--([a-z][a-z-]*)/g)].map(([, flag = '']) => flag);
    const known = (await entry?.load())?.groups.flatMap((group) => group.flags.map(({ name }) => name)) ?? [];
    wrong.push(
      ...flags.filter((flag) => flag !== 'help' && !known.includes(flag)).map((flag) => `${command} --${flag}`),
    );
  }
  expect(wrong).toEqual([]);
  expect(named.filter(([command]) => commands.some(({ name }) => name === command)).length).toBeGreaterThan(60);
});

it('a command in a message quotes the paths in it', () => {
  const unquoted = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .flatMap((name) => readFileSync(join(root, 'src', name), 'utf8').split('\n'))
    .filter((line) => /asset-export [a-z]+ [^`]*\$\{(address|dir|folder|out|path|shown)\b/.test(line));
  expect(unquoted).toEqual([]);
});

it('help knows every page', () => {
  const pages = readdirSync(join(root, 'docs')).filter((name) => name.endsWith('.md') && name !== 'README.md');
  expect(Object.keys(helpPages).map((topic) => `${topic.replace(/\.md$/, '')}.md`)).toEqual(pages.sort());
  // A command, or the fields of a job, have the bare name: nothing else takes it from a page.
  const taken = [...commands.map(({ name }) => name), 'job'];
  const bare = Object.keys(helpPages).map((topic) => topic.replace(/\.md$/, ''));
  expect(Object.keys(helpPages)).toEqual(bare.map((topic) => (taken.includes(topic) ? `${topic}.md` : topic)));
});
