import { fileURLToPath } from 'node:url';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { runHere } from '../../support/run-here.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const records = fileURLToPath(new URL('../../../data/assets.jsonl.gz', import.meta.url));

it('logs a list without a terminal: JSON lines alone, the last one with the account, from the level that is asked for', async () => {
  const cwd = await tempFolder();
  const environment = { ASSET_EXPORT_API_KEY: 'key', ASSET_EXPORT_STATE: join(cwd, 'state') };
  const list = async (...more: string[]) => {
    const filter = ['--collection', '8Fv4CJQJRuDUaawPWRxD6yXAF1Zdf8K22FUiMj8RXwSe', '--dialect', 'triton'];
    const words = ['ids', ...filter, '--url', `embedded:${records}`, '--out', 'few.txt', ...more];
    const { exit, stdout, stderr } = await runHere(words, { cwd, environment });
    const lines = stderr.trim() === '' ? [] : stderr.trim().split('\n');
    for (const line of lines) for (const name of ['list', 'version']) expect(line.split(`"${name}":`)).toHaveLength(2);
    return { exit, stdout, log: lines.map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>) };
  };
  const unproven = await list('--proof-calls', '0');
  expect(unproven.exit).toBe(3);
  expect(unproven.log.map(({ level, msg }) => [level, msg])).toEqual([
    ['info', 'list started'],
    ['info', expect.stringMatching(/^price: 1 a page .*; at most 0 pages may come back empty/)],
    ['error', 'list ended'],
  ]);
  expect(unproven.log.at(-1)).toMatchObject({
    list: 'few.txt',
    state: 'unproven',
    exitCode: 3,
    members: 41,
    proof: 'none',
    error: { code: 'notTolerated', todo: expect.stringContaining('--expect N') as unknown },
  });
  expect(new Set(unproven.log.map(({ run }) => run)).size).toBe(1);

  const quiet = await list('--expect', '41', '--log-level', 'warn');
  expect(quiet).toMatchObject({ exit: 0, log: [] });
  expect(quiet.stdout).toContain('members       41');
});
