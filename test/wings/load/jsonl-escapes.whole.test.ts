import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/lib/clock.ts';
import { loadExport } from '../../../src/wings/load/load-export.ts';
import { parseTarget } from '../../../src/wings/load/load-target.ts';
import { generatedId, generatedRecord } from '../../../packages/practice-service/src/generated/generated-assets.ts';
import { startService } from '../../../src/practice-service.ts';
import { runExport } from '../../support/run-export.ts';
import { runHere } from '../../support/run-here.ts';
import { tempFolder } from '../../support/temp-folder.ts';
import { postgresOfTests } from '../warehouse/postgres-of-tests.ts';
import { request } from './local-exports.ts';

const { isMissing, query, address } = await postgresOfTests('loading into PostgreSQL is not tested');

const id = generatedId(31, 1);

/** An export of one asset, answered from these files or this export. */
async function exported(assets: string, format: string): Promise<string> {
  const out = await tempFolder();
  const ids = join(await tempFolder(), 'ids.txt');
  await writeFile(ids, id);
  const service = await startService({ assets: [assets], host: '127.0.0.1', port: 0, clock: systemClock });
  const { state, error } = await runExport({ flags: { ids, url: service.url, out, format } });
  await service.close();
  if (state !== 'complete') throw error ?? new Error(state);
  return out;
}

/** A file of one record with an unknown member, which goes to the json column `extra`. */
async function recordWith(member: string): Promise<string> {
  const path = join(await tempFolder(), 'assets.jsonl');
  await writeFile(path, generatedRecord(id).replace('{', `{"odd":${member},`));
  return path;
}

it.skipIf(isMissing).each([String.raw`"a\u0000b"`, String.raw`"a\ud800b"`])(
  'into PostgreSQL %s in a json column comes from CSV, and not from JSONL',
  async (member) => {
    const target = parseTarget(address, '/');
    const jsonl = await exported(await recordWith(member), 'jsonl');
    await expect(loadExport(request(jsonl, 'postgres'), target)).rejects.toMatchObject({
      exit: 'loadFailed',
      message: expect.stringMatching(/cannot be converted to text|surrogate/) as string,
      todo: expect.stringContaining(`csv or parquet (no credits with --url embedded:${jsonl}`) as string,
    });
    await loadExport(request(await exported(jsonl, 'csv'), 'postgres'), target);
    expect(await query('SELECT extra FROM assets')).toBe(`{"odd":${member}}\n`);
  },
);

it('into DuckDB a lone surrogate in a json column comes from Parquet, and not from JSONL', async () => {
  const target = parseTarget(`duckdb:${join(await tempFolder(), 'a.duckdb')}`, '/');
  const jsonl = await exported(await recordWith(String.raw`"a\ud800b"`), 'jsonl');
  await expect(loadExport(request(jsonl, 'duckdb'), target)).rejects.toMatchObject({
    exit: 'loadFailed',
    todo: expect.stringContaining('csv or parquet') as string,
  });
  expect(await loadExport(request(await exported(jsonl, 'parquet'), 'duckdb'), target)).toEqual({ assets: 1 });
});

describe.skipIf(isMissing).each(['csv', 'parquet'])('a jsonb column from %s', (format) => {
  const load = (out: string, ...words: string[]) => runHere(['load', out, '--to', address, ...words]);

  const refused = async (member: string) => {
    const out = await exported(await recordWith(member), format);
    await query('DROP SCHEMA public CASCADE; CREATE SCHEMA public');
    expect((await load(out)).exit).toBe(0);
    await query('DELETE FROM assets; ALTER TABLE assets ALTER COLUMN extra TYPE jsonb USING extra::jsonb');
    const { exit, stderr } = await load(out);
    expect(exit, stderr).toBe(9);
    expect(stderr).not.toContain('JSONL');
    return { out, stderr };
  };

  it('refuses NUL, and the flag that is named helps', async () => {
    const { out, stderr } = await refused(String.raw`"a\u0000b"`);
    expect(stderr).toContain(`assets.extra of ${id} has a NUL character (1 row): --nul replace or --nul remove`);
    const loaded = await load(out, '--nul', 'remove');
    expect(loaded.exit, loaded.stderr).toBe(0);
    expect(await query('SELECT extra FROM assets')).toBe('{"odd": "ab"}\n');
  });

  it('refuses a lone surrogate, for which no flag is named, and json takes it', async () => {
    const { out, stderr } = await refused(String.raw`"a\ud800b"`);
    expect(stderr).not.toContain('--nul');
    const [printed = ''] = /ALTER TABLE .* TYPE json .*/.exec(stderr) ?? [];
    await query(printed);
    expect((await load(out)).exit).toBe(0);
  });
});
