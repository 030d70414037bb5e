import { readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { generatedId, generatedRecord } from '../../../packages/practice-service/src/generated/generated-assets.ts';
import { assetsTable, proofColumns } from '../../../src/core/records/columns.ts';
import { intolerable } from '../../../src/core/run/tolerance.ts';
import { loadJob } from '../../../src/core/job/load-job.ts';
import { readRows } from '../../../src/exports/finished-export.ts';
import { verifyExport } from '../../../src/exports/verify-export.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { localDisk } from '../../../src/places/files/disk.ts';
import { type RunningService, startService } from '../../../src/practice-service.ts';
import { hasRealRecords, realRecordTexts } from '../records/any-json.ts';
import { bucketFiles } from '../../../src/places/export/bucket-files.ts';
import { MemoryBuckets } from '../../support/memory-buckets.ts';
import { night } from '../../support/nights.ts';
import { queryDuckdb, sqlText } from '../../support/query-duckdb.ts';
import { type TableFormat, readTable } from '../../support/read-table.ts';
import { runExport, runRepair } from '../../support/run-export.ts';
import { runHere } from '../../support/run-here.ts';
import { keptFolder, tempFolder } from '../../support/temp-folder.ts';
import { sampled } from '../../model/support/sample.ts';

const count = 600;
const ids = Array.from({ length: count }, (_, n) => generatedId(8, n));
const texts = ids.map(generatedRecord);
const compressed = ids.filter((_, at) => texts[at]?.includes('"compressed":true') === true);
/** Assets whose owner the service gets wrong. */
const wrong = compressed.filter((_, at) => at % 20 === 7);

const folder = await keptFolder();
afterAll(folder.remove);
let service: RunningService;

beforeAll(async () => {
  const assets = join(folder.path, 'assets.jsonl');
  await writeFile(assets, texts.join('\n'));
  await writeFile(join(folder.path, 'ids.txt'), ids.join('\n'));
  const faults = { faults: [{ fault: 'unproven', ids: wrong }] };
  service = await startService({ assets: [assets], host: '127.0.0.1', port: 0, clock: systemClock, faults });
  return () => service.close();
});

function flagsOf(out: string, more: Readonly<Record<string, unknown>> = {}) {
  const base = { ids: join(folder.path, 'ids.txt'), url: service.url, 'rows-per-part': '250', 'ids-per-call': '250' };
  return { ...base, out, proofs: true, ...more };
}

async function falseLeaves(out: string): Promise<string[]> {
  const found: string[] = [];
  for await (const row of readRows({ files: localDisk, folder: out, table: 'assets' }))
    if (row['leaf_agrees'] === false) found.push(String(row['id']));
  return found;
}

const counts = { checked: compressed.length, unproven: wrong.length, creators: 0, metadata: 0, leaf: wrong.length };

describe('an export with proofs', () => {
  it('finds exactly the assets whose owner their leaf does not have, in each format, and counts them', async () => {
    const out = await tempFolder();
    const { account } = await runExport({ flags: flagsOf(out, { format: 'csv,jsonl,parquet' }) });
    expect(wrong.length).toBeGreaterThan(3);
    expect(account.proofs).toEqual(counts);
    const table = { ...assetsTable, columns: [...assetsTable.columns, ...proofColumns] };
    for (const format of ['csv', 'jsonl', 'parquet'] satisfies TableFormat[]) {
      const { rows } = await readTable(out, format, table);
      expect(rows.filter((row) => row.at(-1) === 'false').map(([id]) => id)).toEqual(wrong);
      expect(rows.filter((row) => row.at(-1) === null)).toHaveLength(count - compressed.length);
    }
    expect((await verifyExport(localDisk, out)).damage).toEqual([]);
  });

  it('has the same columns when it is rebuilt from an export without them', async () => {
    const [out, rebuilt] = [await tempFolder(), await tempFolder()];
    await runExport({ flags: flagsOf(out, { proofs: false, format: 'parquet' }) });
    const { exit, stdout } = await runHere(['rebuild', out, '--out', rebuilt, '--proofs', '--fresh']);
    expect({ exit, stdout }).toMatchObject({
      exit: 0,
      stdout: expect.stringContaining('compressed assets agree with their hashes (leaf_agrees is') as unknown,
    });
    expect(await falseLeaves(rebuilt)).toEqual(wrong);
  });

  it('is the same in a bucket', async () => {
    const out = await tempFolder();
    await runExport({ flags: flagsOf(out, { format: 'csv' }) });
    const { openStore } = new MemoryBuckets();
    const address = 's3://bucket/out';
    const flags = { ...flagsOf(address, { format: 'csv' }), scratch: await tempFolder() };
    const { account } = await runExport({ flags, context: { openStore } });
    expect(account.proofs).toEqual(counts);
    const files = bucketFiles(await openStore({ address }), address);
    const found: unknown[] = [];
    for await (const row of readRows({ files, folder: address, table: 'assets' }))
      if (row['leaf_agrees'] === false) found.push(row['id']);
    expect(found).toEqual(wrong);
  });

  it('is loaded with its verdicts, and its report counts them', async () => {
    const out = await tempFolder();
    await runExport({ flags: flagsOf(out, { format: 'parquet', tables: 'assets' }) });
    for (const mode of sampled(['replace', 'scd2'], 2)) {
      const database = join(out, `${mode}.duckdb`);
      const args = ['load', out, '--to', `duckdb:${database}`, '--mode', mode];
      expect(await runHere(args)).toMatchObject({ exit: 0 });
      const sql = `ATTACH ${sqlText(database)} AS d (READ_ONLY); SELECT id FROM d.main.assets WHERE NOT leaf_agrees`;
      expect((await queryDuckdb(sql)).flat().toSorted()).toEqual(wrong.toSorted());
    }
    const page = join(out, 'report.html');
    expect(await runHere(['report', out, '--to', page])).toMatchObject({ exit: 0 });
    expect(readFileSync(page, 'utf8')).toContain('compressed assets agree with their hashes');
  });

  it('gets a damaged file back as it was', async () => {
    const out = await tempFolder();
    const flags = flagsOf(out, { format: 'csv,jsonl' });
    await runExport({ flags });
    await writeFile(join(out, 'csv/assets/part-00001.csv'), 'damaged');
    expect(await runRepair({ flags, pays: false })).toMatchObject({ rebuilt: ['csv/assets/part-00001.csv'], calls: 0 });
    expect((await verifyExport(localDisk, out)).damage).toEqual([]);
  });

  it.each([
    ['100%', undefined],
    [wrong.length, undefined],
    [wrong.length - 1, 'notTolerated'],
    ['0.1%', 'notTolerated'],
  ])('with tolerance.maxUnproven %s ends with %s', async (maxUnproven, exit) => {
    const flags = flagsOf('out', { 'max-unproven': String(maxUnproven), 'max-missing': '100%' });
    const { job } = loadJob({ flags, environment: {}, folder: '/' });
    const none = { read: 1, exported: 1, carried: 0, missing: 0, invalid: 0, duplicate: 0, failed: 0 };
    expect(intolerable({ counts: none, drift: [], proofs: counts }, job)?.exit).toBe(exit);
  });

  it.each([
    ['--columns id,leaf_agrees', '--columns must keep content_json_uri'],
    ['--exclude name', '--exclude must name columns of assets'],
    ['--exclude ownership_owner', '--exclude must keep ownership_owner'],
    ['--exclude leaf_agrees', '--exclude must keep leaf_agrees'],
    ['--tables creators', '--tables must name assets for output.proofs'],
  ])('with %s is refused before a call', async (flags, message) => {
    const before = service.counts().exchanges;
    const args = ['run', '--ids', join(folder.path, 'ids.txt'), '--url', service.url, '--out', 'x', '--proofs'];
    const { exit, stderr } = await runHere([...args, ...flags.split(' ')], { cwd: folder.path });
    expect({ exit, stderr }).toMatchObject({ exit: 2, stderr: expect.stringContaining(message) as unknown });
    expect(service.counts().exchanges).toBe(before);
  });

  it.runIf(hasRealRecords)('says of real records what their hashes say, in each format', async () => {
    const out = await tempFolder();
    const real = await tempFolder();
    await mkdir(real, { recursive: true });
    const records = realRecordTexts();
    await writeFile(join(real, 'assets.jsonl'), records.join('\n'));
    await writeFile(join(real, 'ids.txt'), records.map((text) => (JSON.parse(text) as { id: string }).id).join('\n'));
    const flags = { ids: join(real, 'ids.txt'), url: `embedded:${join(real, 'assets.jsonl')}`, out, proofs: true };
    const args = Object.entries({ ...flags, format: 'csv,jsonl,parquet' }).flatMap(([name, value]) =>
      value === true ? [`--${name}`] : [`--${name}`, String(value)],
    );
    const { exit, stdout } = await runHere(['run', ...args, '--json'], { cwd: real });
    expect({ exit, account: JSON.parse(stdout) as object }).toMatchObject({
      exit: 0,
      account: { proofs: { checked: 39, unproven: 14, creators: 0, metadata: 3, leaf: 11 } },
    });
    const table = { ...assetsTable, columns: [...assetsTable.columns, ...proofColumns] };
    for (const format of ['csv', 'jsonl', 'parquet'] satisfies TableFormat[]) {
      const { rows } = await readTable(out, format, table);
      const agreeing = [-3, -2, -1].map((at) => rows.filter((row) => row.at(at) === 'true').length);
      expect(agreeing).toEqual([39, 36, 28]);
    }
  });
});

describe('a night with proofs', () => {
  it('says in changes which verdicts are others than in its base', async () => {
    const [first, second] = [await tempFolder(), await tempFolder()];
    const [id = ''] = compressed;
    const moved = texts.map((text) =>
      text.includes(`"id":"${id}"`) ? text.replace(/"owner":"\w+"/, `"owner":"${generatedId(1, 1)}"`) : text,
    );
    const flags = { format: 'jsonl', proofs: true, tables: 'assets' };
    await night({ day: 0, records: texts, ids, out: first, flags: { ...flags, base: 'none' } });
    const now = { base: first, tables: 'assets,changes', 'max-age': '1d' };
    await night({ day: 3, records: moved, ids, out: second, flags: { ...flags, ...now } });
    const changes: unknown[] = [];
    for await (const row of readRows({ files: localDisk, folder: second, table: 'changes' })) changes.push(row);
    expect(changes).toMatchObject([
      { id, op: 'update', changed: '["ownership_owner","leaf_agrees"]', leaf_agrees: false },
    ]);
    expect(changes).toMatchObject([{ before: expect.stringContaining('"leaf_agrees":true') as unknown }]);
    expect(await falseLeaves(second)).toEqual([id]);
  });
});
