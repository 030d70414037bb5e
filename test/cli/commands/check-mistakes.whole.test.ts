import { mkdir, readdir, rm, symlink, truncate } from 'node:fs/promises';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { certificates } from '../../support/certificates.ts';
import { idEntries } from '../../support/id-file.ts';
import { postgresOfTests } from '../../wings/warehouse/postgres-of-tests.ts';
import { freePort } from '../../support/free-port.ts';
import { linesOf, Prepared } from '../../support/prepared-job.ts';
import { sampled } from '../../model/support/sample.ts';

const sampleIds = fileURLToPath(new URL('../../../data/ids.txt', import.meta.url));

const server = await postgresOfTests('the database is not checked');

const role = (name: string, grants = ''): string => `drop role if exists ${name}; create role ${name} login; ${grants}`;
const as = (name: string): string => server.address.replace('user=tester', `user=${name}`);

/** What a mistake is called, the question that finds it, its exit code, and how it is made. */
type Mistake = readonly [string, string, number, (job: Prepared) => unknown];

const mistakes: readonly Mistake[] = [
  ['an unknown scheme of the output', 'job', 2, (job) => job.set('out', 'gcs://bucket/x')],
  ['an unknown field', 'job', 2, (job) => job.write('job.yaml', 'idz: 1\n').then(() => job.more.push('job.yaml'))],
  ['an address of the service without a scheme', 'job', 2, (job) => job.set('url', 'service.example')],
  ['a run without credits for one call', 'job', 2, (job) => job.set('credits-per-run', '100')],
  ['a day without credits for one call', 'job', 2, (job) => job.set('credits-per-day', '100')],
  [
    'a client of S3 that is not installed',
    'packages',
    2,
    (job) => job.inBucket().then(() => job.without('@aws-sdk/client-s3')),
  ],
  [
    'a client of the database that is not installed',
    'packages',
    2,
    (job) => job.set('fleet', 'postgres://u@h/d').without('pg'),
  ],
  ['a file that is not there', 'ids', 4, (job) => job.set('ids', 'other.txt')],
  ['a list without ids', 'ids', 4, (job) => job.write('ids.txt', 'one\ntwo\nthree\n')],
  [
    'a column without ids',
    'ids',
    4,
    async (job) => {
      await job.write(
        'ids.csv',
        `id,wallet\n${idEntries({ entries: 3 })
          .map((id) => `1,${id}`)
          .join('\n')}\n`,
      );
      job.set('ids', 'ids.csv').set('id-column', 'id');
    },
  ],
  ['an empty list', 'ids', 3, (job) => job.write('ids.txt', '')],
  ['a base that is not there', 'base', 4, (job) => job.set('base', 'nights')],
  [
    'a base that is no complete export',
    'base',
    4,
    async (job) => {
      await mkdir(join(job.folder, 'nights/2026-11-01'), { recursive: true });
      job.set('base', 'nights/*');
    },
  ],
  [
    'a base that lost a file',
    'base',
    12,
    async (job) => {
      await job.withBase();
      await rm(join(job.folder, 'base/csv/assets/part-00000.csv'));
    },
  ],
  [
    'a base whose manifest is damaged',
    'base',
    12,
    async (job) => {
      await job.withBase();
      await truncate(join(job.folder, 'base/manifest.json'), 100);
    },
  ],
  [
    'a base without a common id',
    'base',
    4,
    async (job) => {
      const others = idEntries({ entries: 20 });
      await job.write('ids.txt', readFileSync(sampleIds, 'utf8').split('\n').slice(0, 20).join('\n'));
      await job.withBase();
      await job.write('ids.txt', others.join('\n'));
    },
  ],
  ['no key', 'key', 2, (job) => delete job.environment['ASSET_EXPORT_API_KEY']],
  [
    'an empty key file',
    'key',
    2,
    async (job) => {
      await job.write('key', '\n');
      job.set('api-key-file', 'key');
    },
  ],
  [
    'a key with a line break',
    'key',
    2,
    async (job) => {
      await job.write('key', 'canary\nkey\n');
      job.set('api-key-file', 'key');
    },
  ],
  ['a key file that is a folder', 'key', 2, (job) => job.set('api-key-file', '.')],
  ['a host that has no address', 'address', 5, (job) => job.set('url', 'https://nowhere.invalid')],
  ['a closed port', 'address', 5, async (job) => job.set('url', `http://127.0.0.1:${await freePort()}`)],
  [
    'a closed proxy',
    'address',
    5,
    async (job) => (job.environment['HTTP_PROXY'] = `http://127.0.0.1:${await freePort()}`),
  ],
  ['a proxy that is none', 'address', 2, (job) => (job.environment['HTTP_PROXY'] = 'ftp://proxy')],
  [
    'a client certificate that cannot be read',
    'address',
    2,
    async (job) => {
      await job.withTls(certificates.valid);
      await job.write('job.yaml', 'service: { tls: { cert: none.pem, key: none.pem } }\n');
      job.more.push('job.yaml');
    },
  ],
  ['a certificate that nobody signed', 'certificate', 6, (job) => job.withTls(certificates.valid, '')],
  ['a certificate that has expired', 'certificate', 6, (job) => job.withTls(certificates.expired)],
  ['a certificate for another host', 'certificate', 6, (job) => job.withTls(certificates.otherHost)],
  [
    'a service that wants a certificate',
    'certificate',
    6,
    (job) => job.withTls(certificates.valid, certificates.valid, { ca: certificates.valid, requestCert: true }),
  ],
  [
    'a folder with other files',
    'store',
    2,
    async (job) => {
      await mkdir(join(job.folder, 'out'));
      await job.write('out/notes.txt', '');
    },
  ],
  ['an output below a file', 'store', 7, (job) => job.set('out', 'ids.txt/out')],
  [
    'a bucket that does not exist',
    'store',
    7,
    (job) => job.inBucket().then(() => job.set('out', 's3://other/nightly')),
  ],
  [
    'a bucket that may not be written',
    'store',
    7,
    async (job) => {
      (await job.inBucket()).denied.set('PUT', { status: 403, code: 'AccessDenied' });
    },
  ],
  [
    'wrong credentials of the store',
    'store',
    7,
    (job) => job.inBucket().then(() => (job.environment['AWS_SECRET_ACCESS_KEY'] = 'wrong')),
  ],
  ['a store that overwrites', 'store', 2, (job) => job.inBucket({ overwrites: true })],
  [
    'a store that does not answer',
    'store',
    5,
    async (job) => {
      (await job.inBucket()).goAway(true);
    },
  ],
  ['an output that is a link that leads nowhere', 'store', 7, (job) => symlink('gone', join(job.folder, 'out'))],
  [
    'another format than the export began with',
    'store',
    2,
    async (job) => {
      await job.run('run', '--format', 'csv', '--ids-per-call', '100', '--credits-per-run', '160');
      job.set('format', 'jsonl');
    },
  ],
  [
    'a base that is gone since the night began',
    'base',
    4,
    async (job) => {
      await job.withBase();
      await job.run('run', '--ids-per-call', '100', '--credits-per-run', '160');
      await rm(join(job.folder, 'base'), { recursive: true });
    },
  ],
  [
    'a damaged ledger',
    'key',
    12,
    async (job) => {
      await job.run('run', '--out', 'other', '--credits-per-run', '160');
      const [file = ''] = await readdir(join(job.folder, 'state'), { recursive: true }).then((names) =>
        names.filter((name) => /-\d{4}-\d\d-\d\d$/.test(name)),
      );
      await truncate(join(job.folder, 'state', file), 10);
    },
  ],
  ['a port of metrics that is in use', 'metrics', 2, (job) => job.set('metrics-listen', new URL(job.service.url).port)],
  [
    'a bucket whose region is not named',
    'store',
    7,
    (job) => job.inBucket().then(() => delete job.environment['AWS_REGION']),
  ],
  ['no place for temporary files', 'ids', 7, (job) => (job.environment['TMPDIR'] = join(job.folder, 'none'))],
  ['a ledger folder below a file', 'disk', 7, (job) => job.set('state-dir', 'ids.txt/state')],
  ['more ids than fit on the disk', 'disk', 7, (job) => truncate(join(job.folder, 'ids.txt'), 4e12)],
];

const inDatabase: readonly Mistake[] = [
  [
    'a database that is down',
    'database',
    5,
    async (job) => job.set('fleet', `postgres://u@127.0.0.1:${await freePort()}/d`),
  ],
  ['a user that does not exist', 'database', 9, async (job) => job.set('fleet', as('nobody_here'))],
  [
    'a user who may not create tables',
    'database',
    9,
    async (job) => {
      await server.query('drop schema if exists asset_export cascade');
      await server.query(role('check_poor'));
      job.set('fleet', as('check_poor'));
    },
  ],
  [
    'a user who may not write the tables',
    'database',
    9,
    async (job) => {
      job.set('fleet', server.address);
      const { exit, stderr } = await job.run('credits', 'set', '0').then(() => job.run('check', '--call'));
      expect(exit, stderr).toBe(0);
      await server.query(`${role('check_reader')} grant usage on schema asset_export to check_reader;`);
      job.set('fleet', as('check_reader'));
    },
  ],
];

async function findsIt(...[, question, exit, make]: Mistake): Promise<void> {
  const job = await Prepared.make();
  await make(job);
  const before = job.service.counts().calls;
  const run = await job.run();
  const lines = linesOf(run);
  expect(run.exit, run.stdout + run.stderr).toBe(exit);
  expect(lines[question], run.stdout).toMatch(/^failure /);
  expect(Object.keys(lines)).toHaveLength(12);
  expect(job.service.counts().calls).toBe(before);
  expect(run.stdout + run.stderr).not.toContain('canary');
}

// Promise, Nothing misread: `check` finds 48 prepared mistakes, and sends no call (sampled)
describe('check finds, without a call,', () => {
  it.each(sampled(mistakes, 4))('%s (%s, exit %i)', findsIt);
  it.skipIf(server.isMissing).each(sampled(inDatabase, 2))('%s (%s, exit %i)', findsIt);
});
