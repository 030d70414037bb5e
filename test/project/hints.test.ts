import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { pageTopics } from '../../src/cli/commands/help-command.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

it('no message or help names a file that only a clone has', () => {
  const named = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .flatMap((name) => readFileSync(join(root, 'src', name), 'utf8').split('\n'))
    .filter((line) => !/^\s*(\*|\/\*|\/\/)/.test(line) && !line.includes('new URL('))
    .filter((line) => /['"`].*\b(jobs|data|docs|test|out)\/(demo|[\w-]+\.\w+)/.test(line));
  expect(named).toEqual([]);
});

it('a command in a message quotes the paths in it', () => {
  const unquoted = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .flatMap((name) => readFileSync(join(root, 'src', name), 'utf8').split('\n'))
    .filter((line) => /asset-export [a-z]+ [^`]*\$\{(address|dir|folder|out|path|shown)\b/.test(line));
  expect(unquoted).toEqual([]);
});

it('every topic of help is a page that is there', () => {
  expect(pageTopics.filter((page) => !existsSync(join(root, 'docs', `${page}.md`)))).toEqual([]);
});
