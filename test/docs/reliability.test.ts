import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { promiseGroups, testedPromises } from '../../docs/promises.ts';

const root = new URL('../../', import.meta.url);
const textOf = (path: string): string => readFileSync(fileURLToPath(new URL(path, root)), 'utf8');

const promises = testedPromises();

describe('the pages of promises and contributions', () => {
  it('has promises in each of its groups, and each of them once', () => {
    expect(new Set(promises.map(({ group }) => group))).toEqual(new Set(promiseGroups));
    const texts = promises.map(({ text }) => text);
    expect(texts.filter((text, at) => texts.indexOf(text) !== at)).toEqual([]);
    expect(texts.length).toBeGreaterThan(200);
  });

  it('marks the promises of which npm test runs a sample', () => {
    const marked = new Set(promises.flatMap(({ file, mark }) => (mark === 'sampled' ? [file] : [])));
    expect(marked.size).toBeGreaterThan(5);
    const samples = /\b(everywhere\(|sampled(?:Operations|Beside)?\(|sampledRuns|runsAll)/;
    expect([...marked].filter((file) => !samples.test(textOf(file)))).toEqual([]);
    const models = promises.filter(
      ({ file }) => /^test\/model\/.*-everywhere\./.test(file) && samples.test(textOf(file)),
    );
    expect(models.filter(({ file }) => !marked.has(file))).toEqual([]);
  });

  it.each([
    ['docs/reliability.md', 60],
    ['.github/CONTRIBUTING.md', 15],
  ])('%s names no file or folder of the project that is not there', (paper, atLeast) => {
    const named = /`((?:test|src|bench|docs|data)\/[^`]*)`|\]\(\.\.\/((?:test|docs)\/[^)]*)\)/g;
    const paths = [...textOf(paper).matchAll(named)].map(([, path, linked = '']) => path ?? linked);
    expect(paths.length).toBeGreaterThan(atLeast);
    expect(paths.filter((path) => !existsSync(fileURLToPath(new URL(path, root))))).toEqual([]);
  });
});

describe.each([
  'README.md',
  'ARCHITECTURE.md',
  'CHANGELOG.md',
  '.github/CONTRIBUTING.md',
  'docs/cli.md',
  'docs/job.md',
  'docs/exit-codes.md',
  'docs/output.md',
  'docs/credits.md',
  'docs/library.md',
  'docs/operations.md',
  'docs/reliability.md',
])('the links of %s', (paper) => {
  it('lead to files that are there', () => {
    const links = [...textOf(paper).matchAll(/\]\((?!https?:)([^)#]+)/g)].map(([, path = '']) => path);
    const absent = links.filter((path) => !existsSync(fileURLToPath(new URL(path, new URL(paper, root)))));
    expect(absent).toEqual([]);
  });
});
