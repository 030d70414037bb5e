import { existsSync } from 'node:fs';
import { appendFile, mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { certificates } from '../../support/certificates.ts';
import { idEntries } from '../../support/id-file.ts';
import { throughGate } from '../../support/postgres-gate.ts';
import { runHere } from '../../support/run-here.ts';
import { postgresOfTests } from '../../wings/warehouse/postgres-of-tests.ts';
import { linesOf, Prepared } from '../../support/prepared-job.ts';

const server = await postgresOfTests('the database is not checked');

describe('check', () => {
  it('prints a line for each question, ends with 0, and leaves nothing behind', async () => {
    const job = await Prepared.make();
    const run = await job.run();
    expect(run).toMatchObject({ exit: 0, stderr: '' });
    expect(linesOf(run)).toEqual({
      job: 'ok       the flags: no mistake',
      packages: 'ok       none needed',
      metrics: 'ok       not served',
      ids: 'ok       1 file, first 1,000 entries are ids',
      base: 'ok       none',
      key: 'ok       in ASSET_EXPORT_API_KEY; 0 credits booked today',
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

  it('does not say what disk ids from stdin need, which it does not read', async () => {
    const job = await Prepared.make();
    job.set('ids', '-');
    expect(linesOf(await job.run())).toMatchObject({
      disk: expect.stringMatching(/^ok {7}[\d.]+ \w+ free in out; how much is needed is not known$/) as string,
    });
  });

  it('compares whole lists with those that an export began with, as a run does', async () => {
    const job = await Prepared.make();
    const list = join(job.folder, 'ids.txt');
    expect(await job.run('run')).toMatchObject({ exit: 0 });
    expect(await job.run()).toMatchObject({ exit: 0 });
    await appendFile(list, `${idEntries({ entries: 1, seed: 9 }).join('\n')}\n`);
    const run = await job.run();
    expect(run.exit).toBe(4);
    expect(linesOf(run)['store']).toContain('ids.txt changed since');
  });

  // Promise, Nothing misread: `check` leaves nothing behind, in folder or bucket
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
    await server.query('drop schema if exists asset_export cascade');
    const job = await Prepared.make();
    const run = await job.set('fleet', server.address).run();
    expect(run.exit, run.stdout + run.stderr).toBe(0);
    expect(linesOf(run)).toMatchObject({
      database: 'ok       it answers; the next run creates its tables',
      clock: 'ok       within 5 minutes of that of the database',
    });
    expect(await server.query("select count(*) from pg_namespace where nspname = 'asset_export'")).toBe('0\n');
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

  it('does not judge a list by its first entries alone', async () => {
    const job = await Prepared.make();
    const ids = idEntries({ entries: 1300 });
    await job.write(
      'ids.txt',
      [...ids.slice(0, 400), ...Array.from({ length: 600 }, () => 'no id'), ...ids.slice(400), ''].join('\n'),
    );
    const run = await job.run();
    expect(run.exit, run.stdout + run.stderr).toBe(0);
    expect(linesOf(run)['ids']).toMatch(/^warning {2}1 file, first 1,000 entries were read; /);
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
      state: 'failure',
      exitCode: 4,
      error: { code: 'input', todo: expect.any(String) as string },
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
    const { stdout } = await runHere(['credits', '--state-dir', 'state'], {
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
    ['a service that is down', 5, { faults: { faults: [{ fault: 'status', status: 500 }] } }, { retries: '0' }],
  ] as const)('finds %s (exit %i)', async (...[, exit, options, flags]) => {
    const job = await Prepared.make(options);
    for (const [name, value] of Object.entries(flags)) job.set(name, value);
    const run = await job.run('check', '--call');
    expect(run.exit, run.stdout + run.stderr).toBe(exit);
    expect(linesOf(run)['call']).toMatch(/^failure /);
    expect(run.stdout + run.stderr).not.toContain('canary');
  });
});
