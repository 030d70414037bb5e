import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/lib/clock.ts';
import { hasNul, holdsAny } from '../../../src/wings/load/nul/nul-values.ts';
import { startService } from '../../../src/practice-service.ts';
import { generatedId, generatedRecord } from '../../../packages/practice-service/src/generated/generated-assets.ts';
import { parseObject } from '../../core/records/any-json.ts';
import { runExport } from '../../support/run-export.ts';
import { runHere } from '../../support/run-here.ts';
import { keptFolder } from '../../support/temp-folder.ts';
import { postgresOfTests } from '../warehouse/postgres-of-tests.ts';
import { emptyDatabases } from './both-databases.ts';

const server = await postgresOfTests('NUL characters are not loaded into PostgreSQL');
const { query, address, isMissing } = server;
const opened = emptyDatabases(server);

/** A sample here; as many as the contract says in `npm run test:all`. */
const rows = process.env['TEST'] === 'all' ? 100_000 : 300;
const everyNth = Math.floor(rows / 111) + (rows === 300 ? 1 : 0);
const bad = Array.from({ length: rows }, (_, n) => n).filter((n) => n % everyNth === 0).length;

const folder = await keptFolder();
afterAll(() => folder.remove());
const out = join(folder.path, 'out');

/** Every so many records have NUL in the name and in `extra`; the first has it in an attribute. */
async function exported(): Promise<string> {
  await mkdir(folder.path, { recursive: true });
  const ids = Array.from({ length: rows }, (_, n) => generatedId(61, n));
  const records = ids.map((id, n) => {
    const record = parseObject(generatedRecord(id));
    if (n % everyNth !== 0) return record;
    const attributes = [{ trait_type: 'a', value: n === 0 ? 'x\0y' : 'x' }];
    return { ...record, content: { metadata: { name: `a\0b\0`, symbol: '', attributes } }, odd: 'p\0q' };
  });
  await writeFile(join(folder.path, 'assets.jsonl'), records.map((record) => `${JSON.stringify(record)}\n`).join(''));
  await writeFile(join(folder.path, 'ids.txt'), ids.join('\n'));
  const assets = [join(folder.path, 'assets.jsonl')];
  const service = await startService({ assets, host: '127.0.0.1', port: 0, clock: systemClock });
  const from = { ids: join(folder.path, 'ids.txt'), url: service.url };
  const columns = 'id,interface,content_metadata_name,content_metadata_attributes,extra';
  const shape = { tables: 'assets,attributes', columns, 'rows-per-part': '100' };
  for (const format of ['csv', 'jsonl', 'parquet']) {
    const { state, error } = await runExport({ flags: { ...from, ...shape, format, out: join(out, format) } });
    if (state !== 'complete') throw error ?? new Error(state);
  }
  await service.close();
  return ids[0] ?? '';
}

describe.skipIf(isMissing).each(['csv', 'jsonl', 'parquet'])('NUL characters in %s', (format) => {
  it('are named with column, id and rows; with a flag they are replaced or removed, and counted', async () => {
    const first = await madeOnce();
    const line = ['load', join(out, format), '--to', address];
    await opened('postgres');
    const refused = await runHere(line);
    expect(refused.exit, refused.stderr).toBe(9);
    expect(refused.stderr).toContain(
      `assets.content_metadata_name of ${first} has a NUL character (${bad.toLocaleString('en-US')} rows)`,
    );
    expect(refused.stderr).toContain('--nul replace or --nul remove');
    for (const [rule, name] of [
      ['replace', 'a\ufffdb\ufffd'],
      ['remove', 'ab'],
    ] as const) {
      await opened('postgres');
      const loaded = await runHere([...line, '--nul', rule, ...(rule === 'replace' ? ['--json'] : [])]);
      expect(loaded.exit, loaded.stderr).toBe(0);
      const counted = { 'assets.content_metadata_name': bad, 'attributes.value': 1 };
      if (rule === 'remove') expect(loaded.stdout).toContain('attributes.value: NUL removed from 1 value\n');
      else expect((JSON.parse(loaded.stdout) as { nulValues: object }).nulValues).toEqual(counted);
      const found = `SELECT count(*) FROM assets WHERE content_metadata_name = '${name}'`;
      expect(await query(`${found}; SELECT value FROM attributes WHERE value LIKE 'x_y' OR value = 'xy'`)).toBe(
        `${bad}\n${rule === 'remove' ? 'xy' : 'x\ufffdy'}\n`,
      );
      const recorded = await query(`SELECT nul_values FROM _asset_export_loads WHERE "table" = 'assets'`);
      expect(JSON.parse(recorded)).toEqual({ content_metadata_name: bad });
      // A json column keeps the escape.
      expect(await query(String.raw`SELECT count(*) FROM assets WHERE extra::text LIKE '%p\\u0000q%'`)).toBe(
        `${bad}\n`,
      );
    }
  });

  it('in json are changed where the column is jsonb', async () => {
    await madeOnce();
    await opened('postgres');
    const line = ['load', join(out, format), '--to', address, '--nul', 'replace'];
    expect((await runHere(line)).exit).toBe(0);
    await query(`DELETE FROM assets; ALTER TABLE assets ALTER COLUMN extra TYPE jsonb USING NULL`);
    const loaded = await runHere([...line, '--json', '--max-deletes', '100%']);
    expect(loaded.exit, loaded.stderr).toBe(0);
    expect(await query(`SELECT count(*) FROM assets WHERE extra->>'odd' = E'p\ufffdq'`)).toBe(`${bad}\n`);
    expect(loaded.stdout).toContain(`"assets.extra":${bad}`);
  });
});

let made: Promise<string> | undefined;
const madeOnce = (): Promise<string> => (made ??= exported());

it('the flag is refused with DuckDB', async () => {
  await madeOnce();
  const refused = await runHere(['load', join(out, 'csv'), '--nul', 'remove', '--to', 'duckdb:x.duckdb']);
  expect(refused.exit, refused.stderr).toBe(2);
  expect(refused.stderr).toContain('--nul remove');
});

it('an escape of NUL is one behind an even number of backslashes', () => {
  const column = { name: 'extra', type: 'json', nullable: true, path: [], about: '' } as const;
  const found = (text: string): boolean => hasNul(text, column, new Set(['extra']));
  expect([String.raw`"\u0000"`, String.raw`"\\\u0000"`, String.raw`"\u0000\u0000"`].map(found)).toEqual([
    true,
    true,
    true,
  ]);
  expect([String.raw`"\\u0000"`, String.raw`"\u00001"`.replace('0000', '0010'), '"x"'].map(found)).toEqual([
    false,
    false,
    false,
  ]);
});

it('a sequence is found over the ends of pieces', async () => {
  async function* pieces(text: string): AsyncGenerator<Uint8Array> {
    for (const letter of text) yield Buffer.from(letter);
  }
  expect(await holdsAny(pieces(String.raw`ab\u0000`), ['\0', String.raw`\u0000`])).toBe(true);
  expect(await holdsAny(pieces(String.raw`ab\u000`), ['\0', String.raw`\u0000`])).toBe(false);
});
