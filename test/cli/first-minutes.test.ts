import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { runHere } from '../support/run-here.ts';
import { tempFolder } from '../support/temp-folder.ts';

const data = fileURLToPath(new URL('../../data/', import.meta.url));

async function place() {
  const cwd = await tempFolder();
  await writeFile(join(cwd, 'ids.txt'), await readFile(`${data}ids.txt`));
  const embedded = ['--url', `embedded:${data}assets.jsonl.gz`];
  const run = (...words: string[]) =>
    runHere(words, { cwd, environment: { ASSET_EXPORT_API_KEY: 'abcdefgh', ASSET_EXPORT_STATE: `${cwd}-state` } });
  return { cwd, run, embedded };
}

describe('a run whose ids cannot be read', () => {
  it.each([
    ['a service', ['--url', 'http://127.0.0.1:1']],
    ['records in a file', ['--url', `embedded:${data}assets.jsonl.gz`]],
  ])('makes no folder: %s', async (_, service) => {
    const { cwd, run } = await place();
    const { exit } = await run('run', '--ids', 'nofile.txt', ...service, '--out', 'a/b/out');
    expect([exit, await readdir(cwd, { recursive: true })]).toEqual([4, ['ids.txt']]);
  });
});
