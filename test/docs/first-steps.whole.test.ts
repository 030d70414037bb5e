import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { systemClock } from '../../src/lib/clock.ts';
import { type RunningService, startService } from '../../src/practice-service.ts';
import { BucketOfTests } from '../contract/objects/bucket-of-tests.ts';
import { type FaultyServer, startFaultyServer } from '../contract/objects/faulty-server.ts';
import { serveS3 } from '../contract/objects/s3-bucket.ts';
import { keptFolder } from '../support/temp-folder.ts';
import { postgresOfTests } from '../wings/warehouse/postgres-of-tests.ts';
import { shellBlocks } from './paper-blocks.ts';
import { readerFolder, runBlock } from './reader-folder.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const readme = shellBlocks('README.md', readFileSync(join(root, 'README.md'), 'utf8'));
/** What the README has a reader type for ids of their own. */
const own =
  readme
    .find(({ script }) => script.includes('asset-export init'))
    ?.script.trim()
    .split('\n') ?? [];
const postgres = await postgresOfTests('the steps to a table in PostgreSQL');

let service: RunningService;
let server: FaultyServer;
let folder: Awaited<ReturnType<typeof keptFolder>>;

beforeAll(async () => {
  service = await startService({
    assets: [join(root, 'data/assets.jsonl.gz')],
    host: '127.0.0.1',
    port: 0,
    clock: systemClock,
  });
  server = await startFaultyServer(serveS3(new BucketOfTests(), 'secret'));
  folder = await keptFolder();
});

afterAll(async () => {
  await service.close();
  await server.stop();
  await folder.remove();
});

/** Types one command after the other in a new folder. Resolves to what the last one printed. */
async function typed(name: string, steps: readonly string[]): Promise<string> {
  const reader = await readerFolder(join(folder.path, name), service.url);
  let last = '';
  for (const step of steps) {
    const { exit, output } = await runBlock(`${step.replace('https://service.example', service.url)}\n`, reader, false);
    expect(exit, `${step}\n${output}`).toBe(0);
    last = output;
  }
  return last;
}

it('three commands lead to the first table of own ids', async () => {
  expect(own).toHaveLength(3);
  expect(await typed('own', own)).toMatch(/ is complete\n[^]*\n {2}open \S+\.parquet/);
}, 60_000);

it.skipIf(postgres.isMissing)(
  'a fourth one leads to tables in PostgreSQL',
  async () => {
    const [init = '', ...others] = own;
    const load = `asset-export load first --to '${postgres.address}'`;
    expect(await typed('postgres', [`${init} --out first`, ...others, load])).toContain('loaded into postgres:');
    expect(await postgres.query('SELECT count(*) FROM assets')).toBe('1300\n');
  },
  60_000,
);

it('five commands or fewer lead to a first night in a bucket', async () => {
  const [init = '', key = '', run = ''] = own;
  const night = '--out s3://bucket/nights/date={date} --base none --latest --no-report';
  // As docs/buckets.md sets them, in lines of their own: a block of these needs no shell.
  const account = [
    'AWS_ACCESS_KEY_ID=key',
    'AWS_SECRET_ACCESS_KEY=secret',
    'AWS_REGION=us-east-1',
    'AWS_EC2_METADATA_DISABLED=true',
    `ASSET_EXPORT_OUT_ENDPOINT=${server.endpoint}`,
  ].map((variable) => `export ${variable}\n`);
  // With the line that installs the client of the store, where it is not there.
  const steps = [`${init} ${night}`, key, `${account.join('')}${run}`];
  expect(steps.length + 1).toBeLessThanOrEqual(5);
  expect(await typed('bucket', steps)).toMatch(/^s3:\/\/bucket\/nights\/date=\d{4}-\d{2}-\d{2} is complete/m);
}, 60_000);
