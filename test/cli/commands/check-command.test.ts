import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { appendFile, mkdir, readdir, rm, truncate, writeFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../../src/lib/clock.ts';
import { type RunningService, startService } from '../../../src/service/start-service.ts';
import { type BucketWays, BucketOfTests } from '../../contract/objects/bucket-of-tests.ts';
import { type FaultyServer, startFaultyServer } from '../../contract/objects/faulty-server.ts';
import { serveS3 } from '../../contract/objects/s3-bucket.ts';
import { certificates } from '../../support/certificates.ts';
import { idEntries } from '../../support/id-file.ts';
import { throughGate } from '../../support/postgres-gate.ts';
import { type ProgramRun, runProgram } from '../../support/run-program.ts';
import { tempFolder } from '../../support/temp-folder.ts';
import { postgresOfTests } from '../../warehouse/postgres-of-tests.ts';

const assets = fileURLToPath(new URL('../../../data/assets.jsonl.gz', import.meta.url));
const server = await postgresOfTests('the database is not checked');

/** A job without a mistake: a folder with the working directory in it, its service, flags and environment. */
class Prepared {
  readonly flags = new Map<string, string>();
  readonly environment: Record<string, string> = { ASSET_EXPORT_API_KEY: 'canary-key' };
  readonly more: string[] = [];
  program: readonly string[] | undefined;
  readonly folder: string;
  readonly service: RunningService;

  private constructor(folder: string, service: RunningService) {
    this.folder = folder;
    this.service = service;
    this.set('ids', 'ids.txt').set('url', service.url).set('out', 'out').set('state-dir', 'state');
  }

  static async make(options: Partial<Parameters<typeof startService>[0]> = {}): Promise<Prepared> {
    const folder = await tempFolder();
    const ids = idEntries({ entries: 1500 });
    await writeFile(join(folder, 'ids.txt'), `${ids.join('\n')}\n`);
    const service = await startService({
      ...{ assets: [assets], host: '127.0.0.1', port: 0, clock: systemClock, ...options },
    });
    onTestFinished(() => service.close());
    return new Prepared(folder, service);
  }

  set(flag: string, value: string): this {
    this.flags.set(flag, value);
    return this;
  }

  async write(name: string, text: string): Promise<void> {
    await writeFile(join(this.folder, name), text);
  }

  run(command = 'check', ...more: string[]): Promise<ProgramRun> {
    const flags = [...this.flags].flatMap(([name, value]) => [`--${name}`, value]);
    const { folder: cwd, environment, program } = this;
    return runProgram([command, ...flags, ...this.more, ...more], { cwd, environment, program });
  }

  /** Has the export go to a bucket `bucket`. */
  async inBucket(ways: Partial<BucketWays> = {}): Promise<FaultyServer> {
    const bucket = new BucketOfTests();
    Object.assign(bucket.ways, ways);
    const store = await startFaultyServer(serveS3(bucket, 'secret'));
    onTestFinished(store.stop);
    this.set('out', 's3://bucket/nightly').set('out-endpoint', store.endpoint).set('scratch', 'scratch');
    Object.assign(this.environment, {
      ...{ AWS_ACCESS_KEY_ID: 'key', AWS_SECRET_ACCESS_KEY: 'secret', AWS_REGION: 'us-east-1' },
      AWS_EC2_METADATA_DISABLED: 'true',
    });
    return store;
  }

  /** Has the service speak TLS; no request is answered. */
  async withTls(cert: string, trusted = cert, options: object = {}): Promise<() => number> {
    let requests = 0;
    const tls = createServer({ key: certificates.key, cert, ...options }, () => (requests += 1));
    tls.listen(0, '127.0.0.1');
    await once(tls, 'listening');
    onTestFinished(() => {
      tls.close();
      tls.closeAllConnections();
    });
    await this.write('authority.pem', trusted);
    this.environment['NODE_EXTRA_CA_CERTS'] = join(this.folder, 'authority.pem');
    this.set('url', `https://127.0.0.1:${(tls.address() as AddressInfo).port}`);
    return () => requests;
  }

  async withBase(): Promise<void> {
    this.set('out', 'base').set('format', 'csv');
    const made = await this.run('run');
    expect(made.exit, made.stderr).toBe(0);
    this.set('out', 'out').set('base', 'base').set('base-fetched-at', '2026-11-01T00:00:00Z');
  }

  /** As where packages are not installed. */
  async without(name: string): Promise<void> {
    const error = `Object.assign(new Error("Cannot find package '${name}'"), { code: 'ERR_MODULE_NOT_FOUND' })`;
    const hooks = `export async function resolve(name, context, next) { if (name === '${name}') throw ${error}; return next(name, context); }`;
    await this.write(
      'hooks.mjs',
      `import { register } from 'node:module'; register(${JSON.stringify(`data:text/javascript,${encodeURIComponent(hooks)}`)});`,
    );
    const built = fileURLToPath(new URL('../../../dist/main.js', import.meta.url));
    this.program = ['--import', join(this.folder, 'hooks.mjs'), built];
  }
}

/** An address of this machine at which nobody listens. */
async function closedPort(): Promise<number> {
  const listening = createTcpServer().listen(0, '127.0.0.1');
  await once(listening, 'listening');
  const { port } = listening.address() as AddressInfo;
  listening.close();
  return port;
}

/** A line of `check`: its name, state and text. */
function linesOf({ stdout }: ProgramRun): Record<string, string> {
  const lines = stdout.trimEnd().split('\n');
  return Object.fromEntries(lines.map((line) => [line.slice(2, 14).trim(), line.slice(15)]));
}

const role = (name: string, grants = ''): string => `drop role if exists ${name}; create role ${name} login; ${grants}`;
const as = (name: string): string => server.address.replace('user=tester', `user=${name}`);

/** What a mistake is called, the question that finds it, its exit code, and how it is made. */
type Mistake = readonly [string, string, number, (job: Prepared) => unknown];

const mistakes: readonly Mistake[] = [
  ['an unknown scheme of the output', 'job', 2, (job) => job.set('out', 'gcs://bucket/x')],
  ['an unknown field', 'job', 2, (job) => (job.write('job.yaml', 'idz: 1\n'), job.more.push('job.yaml'))],
  ['an address of the service without a scheme', 'job', 2, (job) => job.set('url', 'service.example')],
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
  ['a closed port', 'address', 5, async (job) => job.set('url', `http://127.0.0.1:${await closedPort()}`)],
  [
    'a closed proxy',
    'address',
    5,
    async (job) => (job.environment['HTTP_PROXY'] = `http://127.0.0.1:${await closedPort()}`),
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
  ['a ledger folder below a file', 'disk', 7, (job) => job.set('state-dir', 'ids.txt/state')],
  ['more ids than fit on the disk', 'disk', 7, (job) => truncate(join(job.folder, 'ids.txt'), 4e12)],
];

const inDatabase: readonly Mistake[] = [
  [
    'a database that is down',
    'database',
    5,
    async (job) => job.set('fleet', `postgres://u@127.0.0.1:${await closedPort()}/d`),
  ],
  ['a user that does not exist', 'database', 9, async (job) => job.set('fleet', as('nobody_here'))],
  [
    'a user who may not create tables',
    'database',
    9,
    async (job) => {
      await server.psql('drop schema if exists asset_export cascade');
      await server.psql(role('check_poor'));
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
      await server.psql(`${role('check_reader')} grant usage on schema asset_export to check_reader;`);
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
  expect(Object.keys(lines)).toHaveLength(11);
  expect(job.service.counts().calls).toBe(before);
  expect(run.stdout + run.stderr).not.toContain('canary');
}

describe('check finds, without a call,', () => {
  it.each(mistakes)('%s (%s, exit %i)', findsIt);
  it.skipIf(server.isMissing).each(inDatabase)('%s (%s, exit %i)', findsIt);
});

describe('check', () => {
  it('prints a line for each question, ends with 0, and leaves nothing behind', async () => {
    const job = await Prepared.make();
    const run = await job.run();
    expect(run).toMatchObject({ exit: 0, stderr: '' });
    expect(linesOf(run)).toEqual({
      job: 'ok       the flags: no mistake',
      packages: 'ok       none needed',
      ids: 'ok       1 file, first 1,000 entries are ids',
      base: 'ok       none',
      key: 'ok       in ASSET_EXPORT_API_KEY',
      address: 'ok       reached; nothing was sent',
      certificate: 'ok       none: the address is not https://',
      store: 'ok       out can be created',
      database: 'ok       none',
      clock: 'ok       not compared: there is neither a bucket nor a database',
      disk: expect.stringMatching(/^ok {7}about .* while it runs; .* free in out$/) as string,
    });
    expect(await readdir(job.folder)).toEqual(['ids.txt']);
    expect(job.service.counts().calls).toBe(0);
  });

  it('sees an export in a bucket, and leaves no object there', async () => {
    const job = await Prepared.make();
    const store = await job.inBucket();
    const run = await job.run();
    expect(run.exit, run.stdout + run.stderr).toBe(0);
    expect(linesOf(run)).toMatchObject({
      packages: 'ok       those for s3:// are installed',
      store: 'ok       s3://bucket/nightly can be written; a second put of the same name was refused',
      clock: 'ok       within 5 minutes of that of the store',
    });
    expect(store.requests.get('DELETE')).toBe(1);
  });

  it.skipIf(server.isMissing)('sees a database whose tables the next run creates', async () => {
    await server.psql('drop schema if exists asset_export cascade');
    const job = await Prepared.make();
    const run = await job.set('fleet', server.address).run();
    expect(run.exit, run.stdout + run.stderr).toBe(0);
    expect(linesOf(run)).toMatchObject({
      database: 'ok       it answers; the next run creates its tables',
      clock: 'ok       within 5 minutes of that of the database',
    });
    expect(await server.psql("select count(*) from pg_namespace where nspname = 'asset_export'")).toBe('0\n');
  });

  it.skipIf(server.isMissing)('reaches a database through TCP', async () => {
    const gate = await throughGate(server.address);
    const job = await Prepared.make();
    expect((await job.set('fleet', gate.address).run()).exit).toBe(0);
  });

  it('names all failures, ends with the exit code of the first, and says what was not looked at', async () => {
    const job = await Prepared.make();
    await job.write('ids.txt', 'nothing\n');
    delete job.environment['ASSET_EXPORT_API_KEY'];
    job.set('url', 'https://nowhere.invalid').set('out', 'ids.txt/out');
    const run = await job.run();
    expect(run.exit).toBe(4);
    const lines = linesOf(run);
    const failed = Object.keys(lines).filter((name) => lines[name]?.startsWith('failure'));
    expect(failed).toEqual(['ids', 'key', 'address', 'store', 'disk'].filter((name) => failed.includes(name)));
    expect(lines['certificate']).toBe('-        not looked at: address failed');
    expect(run.stderr).toContain('no API key given\n  Put the key into a file');
  });

  it('looks at nothing else where the job is wrong', async () => {
    const job = await Prepared.make();
    const lines = linesOf(await job.set('format', 'xml').run());
    const others = Object.keys(lines).filter((name) => name !== 'job');
    expect(new Set(others.map((name) => lines[name]))).toEqual(new Set(['-        not looked at: job failed']));
  });

  it('warns of entries that are no ids, and of a clock that is off', async () => {
    const job = await Prepared.make();
    await job.inBucket({ aheadMs: 6 * 60_000 });
    await job.write('ids.txt', `spoiled\n${idEntries({ entries: 20 }).join('\n')}\n`);
    const run = await job.run('check', '--max-invalid', '1');
    expect(run.exit, run.stdout + run.stderr).toBe(0);
    expect(linesOf(run)).toMatchObject({
      ids: 'warning  1 file, all 21 entries were read; 1 of the 21 entries is no id',
      clock: expect.stringMatching(
        /^warning {2}(6 min|5 min 5\d s)( \d+ s)? behind that of the store; set it/,
      ) as string,
    });
  });

  it('leaves ids from stdin to the run', async () => {
    const job = await Prepared.make();
    const run = await job.set('ids', '-').run();
    expect(run.exit).toBe(0);
    expect(linesOf(run)['ids']).toBe('warning  not read; ids from stdin are read by the run alone');
  });

  it('connects over TLS and sends nothing', async () => {
    const job = await Prepared.make();
    const requests = await job.withTls(certificates.valid);
    const run = await job.run();
    expect(run.exit, run.stdout + run.stderr).toBe(0);
    expect(linesOf(run)['certificate']).toMatch(/^ok {7}valid until 2126-\d\d-\d\d, TLSv1\.3$/);
    expect(requests()).toBe(0);
  });

  it('shows the certificate of service.tls', async () => {
    const job = await Prepared.make();
    await job.withTls(certificates.valid, '', { ca: certificates.valid, requestCert: true });
    await job.write('cert.pem', certificates.valid);
    await job.write('key.pem', certificates.key);
    await job.write('job.yaml', 'service: { tls: { cert: cert.pem, key: key.pem, ca: cert.pem } }\n');
    const run = await job.run('check', 'job.yaml');
    expect(run.exit, run.stdout + run.stderr).toBe(0);
  });

  it('prints one object with --json', async () => {
    const job = await Prepared.make();
    await job.write('ids.txt', 'nothing\n');
    const { exit, stdout } = await job.run('check', '--json');
    const { exitCode, checks } = JSON.parse(stdout) as { exitCode: number; checks: Record<string, unknown>[] };
    expect([exit, exitCode]).toEqual([4, 4]);
    expect(checks.find(({ name }) => name === 'ids')).toMatchObject({
      ...{ state: 'failure', exitCode: 4, error: { code: 'input', todo: expect.any(String) as string } },
    });
  });

  it('repeated, and before a run, changes nothing of what the run does', async () => {
    const job = await Prepared.make();
    await job.run();
    const ran = await job.run('run', '--format', 'csv');
    expect(ran.exit, ran.stderr).toBe(0);
    expect((await job.run('check', '--format', 'csv')).exit).toBe(0);
    expect(existsSync(join(job.folder, 'out/manifest.json'))).toBe(true);
  });
});

describe('check --call', () => {
  it('spends one call, and books it', async () => {
    const job = await Prepared.make();
    const run = await job.run('check', '--call');
    expect(run.exit, run.stdout + run.stderr).toBe(0);
    expect(linesOf(run)['call']).toMatch(/ was requested: answered in .*, 160 credits/);
    expect(job.service.counts().calls).toBe(1);
    const { stdout } = await runProgram(['credits', '--state-dir', 'state'], {
      cwd: job.folder,
      environment: job.environment,
    });
    expect(stdout).toContain('160  today');
  });

  it('spends none where anything else failed', async () => {
    const job = await Prepared.make();
    await mkdir(join(job.folder, 'out'));
    await appendFile(join(job.folder, 'out/notes.txt'), '');
    const run = await job.run('check', '--call');
    expect(run.exit).toBe(2);
    expect(linesOf(run)['call']).toBe('-        not looked at: store failed');
    expect(job.service.counts().calls).toBe(0);
  });

  it.each([
    ['a key that the service refuses', 6, { apiKeys: ['other'] }, {}],
    ['a balance that is spent', 8, { creditsPerDay: 10 }, {}],
    ['a budget that is spent', 8, {}, { 'credits-per-run': '100' }],
    ['a service that is down', 5, { faults: { rules: [{ fault: 'status', status: 500 }] } }, { retries: '0' }],
  ] as const)('finds %s (exit %i)', async (...[, exit, options, flags]) => {
    const job = await Prepared.make(options as Partial<Parameters<typeof startService>[0]>);
    for (const [name, value] of Object.entries(flags)) job.set(name, value);
    const run = await job.run('check', '--call');
    expect(run.exit, run.stdout + run.stderr).toBe(exit);
    expect(linesOf(run)['call']).toMatch(/^failure /);
    expect(run.stdout + run.stderr).not.toContain('canary');
  });
});
