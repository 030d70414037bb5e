import { mkdir, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { catalogueEngines } from '../../../src/wings/lake/index.ts';
import { runHere } from '../../support/run-here.ts';
import { tempFolder } from '../../support/temp-folder.ts';
import { dayOf, runNight } from '../../wings/lake/support/lake-root.ts';

it('lake publishes, checks, prints the lines of catalogues, and rebuilds what was moved', async () => {
  const root = join(await tempFolder(), 'nightly');
  await mkdir(root);
  for (const day of [0, 1]) await runNight(root, day, { flags: { tables: 'assets,creators', lake: 'none' } });
  const program = (...words: string[]) => runHere(['lake', ...words], { cwd: dirname(root) });

  const none = await program('nightly');
  expect(none.exit).toBe(2);
  expect(none.stderr).toContain('asset-export lake nightly --publish');

  const published = await program('nightly', '--publish');
  expect(published).toMatchObject({
    exit: 0,
    stdout: `nightly: published 2 nights: ${dayOf(0)}, ${dayOf(1)}\n`,
  });
  expect((await program('nightly', '--publish')).stdout).toBe('nightly: no complete night was missing in the lake.\n');

  const checked = await program('nightly');
  expect(checked.exit).toBe(0);
  expect(checked.stdout).toContain('nightly: 2 tables\n  creators  v2  2 nights');
  expect(checked.stdout).toContain('Every file exists with its size.\n');
  const json = JSON.parse((await program('nightly', '--json')).stdout) as Record<string, unknown>;
  expect(json).toMatchObject({
    ok: true,
    exitCode: 0,
    lake: { assets: { metadata: join(root, 'lake/assets/metadata/v2.metadata.json') } },
  });

  for (const engine of catalogueEngines) {
    const { exit, stdout } = await program('nightly', '--for', engine);
    expect(exit).toBe(0);
    expect(stdout).toContain('creators');
    expect(stdout, engine).toContain(engine === 'clickhouse' ? `${root}/lake/assets/` : 'v2.metadata.json');
  }
  expect((await program('nightly', '--for', 'hive')).exit).toBe(2);
  expect((await program('nightly', '--yes')).exit).toBe(2);
  expect((await program('nightly', '--publish', '--rebuild')).exit).toBe(2);
  expect((await program('nightly', '--location', '/x')).exit).toBe(2);

  for (const location of ['foo', './foo', '', '/', 'http://host/x', '/mnt/{date}', 's3:/x', 's3://']) {
    const refused = await program('nightly', '--rebuild', '--location', location, '--yes');
    expect(refused.exit, location).toBe(2);
    expect(refused.stderr, location).toContain('--location');
  }
  expect((await program('nightly', '--rebuild', '--location', 'hdfs://host/x/')).stdout).toContain(
    'for hdfs://host/x\n',
  );
  expect((await program('nightly', '--rebuild', '--location', '/mnt/x/')).stdout).toContain('for /mnt/x\n');

  await rename(root, join(dirname(root), 'moved'));
  const moved = await program('moved');
  expect(moved.exit).toBe(12);
  expect(moved.stdout).toContain('Fix: asset-export lake moved --rebuild --yes');
  expect((await program('moved', '--rebuild')).stdout).toContain('Nothing was written. Add --yes');
  expect((await program('moved')).exit).toBe(12);
  expect((await program('moved', '--rebuild', '--yes')).exit).toBe(0);
  expect((await program('moved')).exit).toBe(0);
  expect((await program('moved', '--rebuild', '--location', 's3://bucket/nightly', '--yes')).exit).toBe(0);
  const snowflake = await program('moved', '--for', 'snowflake');
  expect(snowflake.stdout).toContain("REFRESH 'lake/assets/metadata/v4.metadata.json'");
  expect((await program('moved')).exit).toBe(0);
}, 60_000);
