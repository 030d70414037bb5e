import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { laneOf } from '../support/lane.ts';

const root = new URL('../../', import.meta.url);
const textOf = (path: string): string => readFileSync(fileURLToPath(new URL(path, root)), 'utf8');

type Mark = 'sampled' | 'nightly';

/** Rows of the tables of promises: the promise, the test's file, words of its title, and how much of it `npm test` runs. */
function promises(): (readonly [promise: string, file: string, words: string, mark: Mark | undefined])[] {
  const rows = textOf('docs/reliability.md').matchAll(
    /^\| (.+?)(?: \((sampled|nightly)\))? +\| `(test\/[^`]+)`: (.+?) +\|$/gm,
  );
  return [...rows].map(
    ([, promise = '', mark, file = '', words = '']) => [promise, file, words, mark as Mark | undefined] as const,
  );
}

describe('docs/reliability.md', () => {
  it('has a test for each line of its tables', () => {
    const lines = textOf('docs/reliability.md')
      .split('\n')
      .filter((line) => line.startsWith('|') && !/^\| (promise|file|---|`x\.)/.test(line));
    expect(lines.length).toBeGreaterThan(20);
    expect(promises()).toHaveLength(lines.length);
  });

  it.each(promises())('names a test that is there: %s', (_, file, words) => {
    // A title may be a template, so it is looked for between its values.
    expect(textOf(file)).toContain(words);
  });

  it('marks the promises of which npm test runs a sample', () => {
    const marked = new Set(promises().flatMap(([, file, , mark]) => (mark === 'sampled' ? [file] : [])));
    expect(marked.size).toBeGreaterThan(5);
    const samples = /\b(everywhere\(|sampled\(|sampledRuns|runsAll)/;
    expect([...marked].filter((file) => !samples.test(textOf(file)))).toEqual([]);
    const models = promises().filter(([, file]) => file.includes('-everywhere.') && samples.test(textOf(file)));
    expect(models.filter(([, file]) => file.startsWith('test/model/') && !marked.has(file))).toEqual([]);
  });

  it('marks each promise whose test npm test leaves out', () => {
    const unmarked = promises().filter(([, file, , mark]) => (laneOf(file) === 'nightly') !== (mark === 'nightly'));
    expect(unmarked.map(([promise, file]) => `${file}: ${promise}`)).toEqual([]);
  });

  it('names no file or folder of the project that is not there', () => {
    const paths = [...textOf('docs/reliability.md').matchAll(/`((?:test|src|bench|docs|data)\/[^`]*)`/g)].map(
      ([, path = '']) => path,
    );
    expect(paths.length).toBeGreaterThan(60);
    expect(paths.filter((path) => !existsSync(fileURLToPath(new URL(path, root))))).toEqual([]);
  });
});

describe.each([
  'README.md',
  'ARCHITECTURE.md',
  'CHANGELOG.md',
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
