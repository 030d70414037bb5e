import { cpSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { takeLock } from '../../../src/places/files/lock.ts';
import { runHere } from '../../support/run-here.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const records = fileURLToPath(new URL('../../../data/assets.jsonl.gz', import.meta.url));
const collection = '8Fv4CJQJRuDUaawPWRxD6yXAF1Zdf8K22FUiMj8RXwSe';

/** A folder in which lists are made and looked at. */
async function withLists() {
  const cwd = await tempFolder();
  const environment = { ASSET_EXPORT_API_KEY: 'key', ASSET_EXPORT_STATE: join(cwd, 'state') };
  const run = (...words: string[]) => runHere(words, { cwd, environment });
  const list = (dialect: string, ...more: string[]) =>
    run('ids', '--collection', collection, '--dialect', dialect, '--url', `embedded:${records}`, ...more);
  return { cwd, run, list };
}

describe('status of a list of ids', () => {
  it('names a complete one by its file or its account, and the next command', async () => {
    const { run, list } = await withLists();
    expect(await list('helius', '--out', 'm.txt')).toMatchObject({ exit: 0 });
    for (const name of ['m.txt', 'm.txt.json']) {
      const { exit, stdout } = await run('status', name);
      expect(exit).toBe(0);
      expect(stdout).toMatch(/^m\.txt is a list of ids, complete\n/);
      expect(stdout).toContain(`filter        collection ${collection}\n`);
      expect(stdout).toContain('members       41\n  proof         total\n');
      expect(stdout).toContain('Next: asset-export plan --ids m.txt --out DIR, ');
    }
    const { stdout } = await run('status', 'm.txt', '--json');
    expect(JSON.parse(stdout)).toMatchObject({ kind: 'asset-export ids', state: 'complete', members: 41 });
    expect(await run('status', 'm.txt', '--watch')).toMatchObject({ exit: 2 });
  });

  it('says of one that is not proven what to add, and of one that was stopped or runs where it is', async () => {
    const { cwd, run, list } = await withLists();
    expect(await list('triton', '--out', 'u.txt', '--proof-calls', '0')).toMatchObject({ exit: 3 });
    for (const name of ['u.txt', 'u.txt.ids', 'u.txt.unproven', 'u.txt.unproven.json']) {
      const { exit, stdout } = await run('status', name);
      expect(exit).toBe(0);
      expect(stdout).toMatch(/^u\.txt is a list of ids that is not proven: 0 pages came back empty/);
      expect(stdout).toContain('Next: run the same ids command again, with --proof-calls N or --expect N.');
    }
    // What a process leaves that is killed: its folder alone.
    for (const name of readdirSync(cwd)) if (name.startsWith('u.txt.unproven')) rmSync(join(cwd, name));
    const stopped = await run('status', 'u.txt');
    expect(stopped.stdout).toMatch(/^u\.txt is a list of ids, incomplete; no process is working on it\n/);
    expect(stopped.stdout).toContain('members       41 so far\n\nNext: run the same ids command again to resume.');
    const lock = await takeLock(join(cwd, 'u.txt.ids'));
    expect(JSON.parse((await run('status', 'u.txt', '--json')).stdout)).toMatchObject({
      state: 'running',
      members: 41,
    });
    await lock.release();
  });

  it('takes no other file for a list', async () => {
    const { cwd, run } = await withLists();
    writeFileSync(join(cwd, 'other.txt'), '');
    writeFileSync(join(cwd, 'other.txt.json'), '{');
    const { exit, stderr } = await run('status', 'other.txt');
    expect({ exit, stderr }).toMatchObject({ exit: 2, stderr: expect.stringContaining('is not an export') as string });
    cpSync(records, join(cwd, 'other.txt.unproven.json'));
    expect(await run('status', 'other.txt')).toMatchObject({ exit: 2 });
  });
});
