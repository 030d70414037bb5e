import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { runHere } from '../../support/run-here.ts';
import { tempFolder } from '../../support/temp-folder.ts';
import { dayOf, runNight } from './support/lake-root.ts';

const older = fileURLToPath(new URL('../../acceptance/encoding-1/full', import.meta.url));

/** A root with a night by the last version that wrote no field ids. */
async function olderRoot(): Promise<string> {
  const root = await tempFolder();
  await cp(older, join(root, `date=${dayOf(0)}`), { recursive: true });
  return root;
}

describe('a night without field ids', () => {
  it('is refused by lake --publish, and published when the command that is named was typed', async () => {
    const root = await olderRoot();
    const publish = () => runHere(['lake', root, '--publish']);
    const night = `${root}/date=${dayOf(0)}`;
    const refused = await publish();
    expect(refused).toMatchObject({ exit: 2, stdout: '' });
    expect(refused.stderr).toContain('have no field ids');
    const [, words = ''] = /asset-export (rebuild \S+ --out \S+),/.exec(refused.stderr) ?? [];
    expect(words).toBe(`rebuild ${night} --out ${night}.rebuilt`);
    const rebuilt = await runHere(words.split(' '));
    expect(rebuilt.exit, rebuilt.stderr).toBe(0);
    const { rename, rm } = await import('node:fs/promises');
    await rm(night, { recursive: true });
    await rename(`${night}.rebuilt`, night);
    expect(await publish()).toMatchObject({ exit: 0, stdout: expect.stringContaining(dayOf(0)) as string });
    expect((await runHere(['lake', root])).exit).toBe(0);
  }, 60_000);

  it('is passed by in a run, with a line', async () => {
    const root = await olderRoot();
    const flags = { tables: 'assets', base: 'none' };
    await runNight(root, 1, { flags });
    const warnings: string[] = [];
    const listener = (event: { kind: string; message?: string }): void => {
      if (event.kind === 'warning') warnings.push(event.message ?? '');
    };
    await cp(older, join(root, `date=${dayOf(2)}`), { recursive: true });
    const { lake } = await runNight(root, 3, { flags, context: { listener } });
    expect(lake).toMatchObject({ assets: {} });
    expect(warnings.filter((text) => text.includes('have no field ids'))).toHaveLength(1);
    const { stdout } = await runHere(['lake', root]);
    expect(stdout).toContain('2 nights');
  }, 60_000);
});

it('a folder without a night is refused alike by the check and by --publish', async () => {
  const empty = await tempFolder();
  for (const more of [[], ['--publish'], ['--for', 'trino'], ['--json']]) {
    const { exit, stderr } = await runHere(['lake', empty, ...more]);
    expect(exit).toBe(2);
    expect(stderr).toContain('has no complete export whose folder names a day');
    expect(stderr).not.toContain('--publish');
  }
});
