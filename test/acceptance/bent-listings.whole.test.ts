import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BucketOfTests, type PageOfTests, usualWays } from '../contract/objects/bucket-of-tests.ts';
import { startFaultyServer } from '../contract/objects/faulty-server.ts';
import { listingWays } from '../contract/objects/listing-contract.ts';
import { s3Credentials, serveS3 } from '../contract/objects/s3-bucket.ts';
import { generatedId, generatedRecord } from '../../packages/practice-service/src/generated/generated-assets.ts';
import { sampled } from '../model/support/sample.ts';
import { runHere } from '../support/run-here.ts';
import { keptFolder } from '../support/temp-folder.ts';

const bucket = new BucketOfTests();
const server = await startFaultyServer(serveS3(bucket, 'secret'));
const ids = Array.from({ length: 30 }, (_, n) => generatedId(4, n));
const days = ['2026-11-18', '2026-11-19', '2026-11-20'];
let folder: Awaited<ReturnType<typeof keptFolder>>;

const run = (...words: readonly string[]) =>
  runHere(words, {
    cwd: folder.path,
    environment: {
      ...s3Credentials,
      ASSET_EXPORT_API_KEY: 'abcdefgh',
      ASSET_EXPORT_STATE: join(folder.path, 'state'),
      ASSET_EXPORT_OUT_ENDPOINT: server.endpoint,
      ASSET_EXPORT_SCRATCH: join(folder.path, 'scratch'),
    },
  });

const source = [
  '--url',
  'embedded:assets.jsonl',
  '--ids-per-call',
  '10',
  '--rows-per-part',
  '10',
  '--format',
  'parquet',
];

beforeAll(async () => {
  folder = await keptFolder();
  writeFileSync(join(folder.path, 'assets.jsonl'), ids.map((id) => `${generatedRecord(id)}\n`).join(''));
  for (const [n, id] of ids.entries())
    bucket.put(`ids/${String(n).padStart(2, '0')}.txt`, Buffer.from(`${id}\n`), undefined);
  writeFileSync(join(folder.path, 'ids.txt'), ids.map((id) => `${id}\n`).join(''));
  for (const day of days) {
    const made = await run('run', '--ids', 'ids.txt', ...source, '--out', `s3://bucket/n/date=${day}`, '--no-report');
    expect(made.exit, made.stderr).toBe(0);
  }
  const fleet = await run(
    'enqueue',
    '--ids',
    'ids.txt',
    ...source,
    '--out',
    's3://bucket/fleet',
    '--entries-per-slice',
    '10',
    '--no-report',
  );
  expect(fleet.exit, fleet.stderr).toBe(0);
}, 60_000);

afterAll(async () => {
  await server.stop();
  await folder.remove();
});

/** Each command that reads listings. What it changes in the bucket is taken back. */
const readers: Readonly<Record<string, readonly string[]>> = {
  'ids of a pattern': ['plan', '--ids', 's3://bucket/ids/*.txt', ...source, '--out', 'new'],
  'a pattern of bases': [
    ...['plan', '--ids', 'ids.txt', ...source, '--out', 's3://bucket/n/date=2026-11-21'],
    ...['--base', 's3://bucket/n/date=*'],
  ],
  'nights to prune': ['prune', 's3://bucket/n', '--keep-last', '1', '--yes'],
  'nights to load': ['load', 's3://bucket/n', '--to', 'duckdb:nights.duckdb', '--allow-older'],
  'a lake of nights': ['lake', 's3://bucket/n', '--publish'],
  'a fleet': ['status', 's3://bucket/fleet'],
};

/** How a command ended, what it printed but for times, and which objects it left. */
async function ended(words: readonly string[]) {
  const before = new Map(bucket.objects);
  rmSync(join(folder.path, 'nights.duckdb'), { force: true });
  try {
    const { exit, stdout, stderr } = await run(...words);
    const removed = [...before.keys()].filter((key) => !bucket.objects.has(key));
    return { exit, stderr, printed: stdout.replaceAll(/[\d.,]+( ?(ms|s|min))?/g, 'N'), removed };
  } finally {
    bucket.objects.clear();
    for (const [key, stored] of before) bucket.objects.set(key, stored);
  }
}

describe.each(Object.entries(readers))('the listing of %s', (_, words) => {
  // Promise, Nothing misread: Each command reads the whole listing of a bucket, or ends with 5 (sampled)
  it('is right, or named with its store, in whatever way its pages are bent', async () => {
    const right = await ended(words);
    expect(right.exit, right.stderr).toBe(0);
    const wrong: string[] = [];
    let bent = 0;
    const ways = sampled(listingWays, 3);
    for (const { what, bend } of ways) {
      Object.assign(bucket.ways, usualWays, { pageSize: 2 });
      let number = 0;
      let first: PageOfTests | undefined;
      bucket.ways.bend = (page, isFirst) => {
        number = isFirst ? 1 : number + 1;
        if (isFirst) first = page;
        if (!page.isTruncated && isFirst) return page;
        bent += 1;
        return { ...page, ...bend(page, number, first ?? page) };
      };
      const found = await ended(words);
      Object.assign(bucket.ways, usualWays);
      const { exit, stderr, ...made } = found;
      const isRight = exit === 0 && isDeepStrictEqual(made, { printed: right.printed, removed: right.removed });
      const isNamed = exit === 5 && /s3:\/\/bucket/.test(stderr) && found.removed.length === 0;
      if (!isRight && !isNamed)
        wrong.push(`${what}: ${exit} ${stderr.slice(-400)} ${JSON.stringify(made).slice(0, 300)}`);
    }
    expect(wrong).toEqual([]);
    expect(bent).toBeGreaterThanOrEqual(ways.length);
  }, 120_000);
});
