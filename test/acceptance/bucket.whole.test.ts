import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../src/lib/clock.ts';
import { openObjects } from '../../src/places/objects/open-objects.ts';
import { readObject, namesOf } from '../../src/places/objects/object-store.ts';
import type { ReportData } from '../../src/wings/report/report-data.ts';
import { BucketOfTests, usualWays } from '../contract/objects/bucket-of-tests.ts';
import { startFaultyServer } from '../contract/objects/faulty-server.ts';
import { serveS3 } from '../contract/objects/s3-bucket.ts';
import { startGeneratedService } from '../support/service/generated-service.ts';
import { writeIdFile } from '../support/id-file.ts';
import { queryDuckdb, sqlText } from '../support/query-duckdb.ts';
import { exportBytes } from '../support/run-export.ts';
import { runHere } from '../support/run-here.ts';
import { runProgram, startProgram } from '../support/run-program.ts';
import { tempFolder } from '../support/temp-folder.ts';

const credentials = {
  AWS_ACCESS_KEY_ID: 'key',
  AWS_SECRET_ACCESS_KEY: 'secret',
  AWS_REGION: 'us-east-1',
  AWS_EC2_METADATA_DISABLED: 'true',
};
Object.assign(process.env, credentials);
const bucket = new BucketOfTests();
const server = await startFaultyServer(serveS3(bucket, 'secret'));
afterAll(server.stop);
const denied = { status: 403, code: 'AccessDenied' };
beforeEach(() => {
  Object.assign(bucket.ways, usualWays);
  server.denied.clear();
  server.faults.length = 0;
});

/** A service, 60 ids in parts of 20, and what runs the program on a prefix of its own. */
async function sixtyIds(files: readonly string[] = ['--format', 'csv']) {
  const folder = await tempFolder();
  const hooks: { onCall: (number: number) => void } = { onCall: () => undefined };
  const service = await startGeneratedService({
    at: (point, call) => {
      if (point === 'received') hooks.onCall(call.number);
    },
  });
  onTestFinished(() => service.stop());
  await writeIdFile(join(folder, 'ids.txt'), { entries: 60 });
  const address = `s3://bucket/${folder.slice(1).replaceAll('/', '-')}`;
  const environment = {
    ...credentials,
    ASSET_EXPORT_API_KEY: 'key',
    ASSET_EXPORT_STATE: join(folder, 'state'),
    ASSET_EXPORT_OUT_ENDPOINT: server.endpoint,
    ASSET_EXPORT_SCRATCH: join(folder, 'scratch'),
  };
  const job = [
    ...['--ids', 'ids.txt', '--url', service.url, '--ids-per-call', '10', '--rows-per-part', '20'],
    ...[...files, '--entries-per-slice', '40', '--dead-after-seconds', '1', '--threads', '1'],
  ];
  const started = (...args: string[]) => runProgram(args, { cwd: folder, environment });
  const program = (...args: string[]) => runHere(args, { cwd: folder, environment });
  const run = (out: string, ...more: string[]) => program('run', ...job, '--out', out, ...more);
  const store = () => openObjects({ address, endpoint: server.endpoint, clock: systemClock, random: Math.random });
  return { folder, service, hooks, address, environment, job, started, program, run, store };
}

/** Copies all objects of a bucket into a folder. */
async function downloaded(store: Awaited<ReturnType<typeof openObjects>>, folder: string): Promise<string> {
  for (const name of await namesOf(store, '')) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), await readObject(store, name));
  }
  return folder;
}

/** Texts: `toEqual` looks at bytes one by one. */
async function objectsOf(store: Awaited<ReturnType<typeof openObjects>>): Promise<Map<string, string>> {
  const objects = new Map<string, string>();
  for (const name of await namesOf(store, '')) objects.set(name, (await readObject(store, name)).toString('latin1'));
  return objects;
}

function withoutManifest(objects: Map<string, string>) {
  return [...objects].filter(([name]) => name !== 'manifest.json');
}

const twoFormats = ['--format', 'csv,parquet', '--tables', 'assets,creators'];

describe('an export in a bucket', () => {
  it('has the bytes of one in a folder, and every command reads it', async () => {
    const { folder, service, address, job, started, program, run, store } = await sixtyIds(twoFormats);
    expect(await run('local')).toMatchObject({ exit: 0 });
    const first = await started('run', ...job.slice(0, -2), '--out', address, '--json');
    expect(first).toMatchObject({ exit: 0 });
    expect(JSON.parse(first.stdout)).toMatchObject({ state: 'complete', folder: address, callsOfRun: 6, read: 60 });
    const copy = await downloaded(await store(), join(folder, 'copy'));
    expect(exportBytes(copy)).toEqual(exportBytes(join(folder, 'local')));
    const again = await run(address, '--json');
    expect(JSON.parse(again.stdout)).toMatchObject({ state: 'already', callsOfRun: 0 });
    expect(service.counts().calls).toBe(12);

    expect(JSON.parse((await program('status', address, '--json')).stdout)).toMatchObject({
      state: 'complete',
      exit: 0,
      parts: 3,
    });
    expect(await program('verify', address, '--strict')).toMatchObject({ exit: 0 });
    expect(await program('verify', address, '--quick')).toMatchObject({ exit: 0 });
    expect(await program('load', address, '--to', 'duckdb:here.duckdb')).toMatchObject({ exit: 0 });
    const file = sqlText(join(folder, 'here.duckdb'));
    const [row] = await queryDuckdb(`ATTACH ${file} AS here (READ_ONLY); SELECT count(*) FROM here.assets`);
    expect(Number(row?.[0])).toBe((JSON.parse(first.stdout) as { exported: number }).exported);

    await (await store()).put('csv/assets/part-00001.csv', { bytes: Buffer.from('changed') });
    expect(await program('verify', address, '--quick')).toMatchObject({ exit: 12 });
    expect(await program('verify', address)).toMatchObject({ exit: 12 });
  }, 120_000);

  it('is served, planned and described from its address', async () => {
    const { folder, environment, address, job, program, run } = await sixtyIds(['--format', 'parquet']);
    expect(await run(address)).toMatchObject({ exit: 0 });
    const plan = await program('plan', ...job, '--out', address, '--json');
    expect(JSON.parse(plan.stdout)).toMatchObject({ alreadyDone: 60, calls: 0, callsSent: 6, lostDiskCalls: 0 });
    writeFileSync(
      join(folder, 'job.yaml'),
      `ids: { from: ids.txt }\nservice: { url: 'http://127.0.0.1:9' }\noutput: { dir: '${address}' }\n`,
    );
    expect((await program('schema', 'job.yaml', '--for', 'duckdb')).stdout).toContain(`${address}/parquet/assets`);
    const { child, ended } = startProgram(['serve', '--assets', address, '--port', '0'], { cwd: folder, environment });
    const [url] = (
      await new Promise<string>((resolve) =>
        child.stdout?.once('data', (text) => {
          resolve(String(text));
        }),
      )
    ).split('\n');
    expect(await (await fetch(`${url ?? ''}/healthz`)).text()).toContain('ready');
    child.kill('SIGTERM');
    expect((await ended).stderr).toContain('serving');
  }, 120_000);

  it('is repaired: for free from its other files, and the rest for credits', async () => {
    const { service, address, job, program, run, store } = await sixtyIds(twoFormats);
    expect(await run(address)).toMatchObject({ exit: 0 });
    const before = await objectsOf(await store());
    const spoil = async (...names: string[]) => {
      for (const name of names) await (await store()).put(name, { bytes: Buffer.from('spoilt') });
    };
    await spoil('csv/assets/part-00001.csv');
    await (await store()).remove(['csv/creators/part-00002.csv']);
    const free = await program('verify', address, '--repair');
    expect(free).toMatchObject({ exit: 0, stderr: expect.stringContaining('2 files rebuilt') as string });
    expect(await objectsOf(await store())).toEqual(before);

    await spoil('csv/assets/part-00001.csv', 'parquet/assets/part-00001.parquet');
    const calls = service.counts().calls;
    const repair = ['verify', address, '--repair', ...job.slice(0, 4)];
    expect(await program(...repair)).toMatchObject({
      exit: 12,
      stderr: expect.stringContaining('2 calls, 320 credits') as string,
    });
    expect(service.counts().calls).toBe(calls);
    expect(await program(...repair, '--yes')).toMatchObject({ exit: 0 });
    expect(service.counts().calls).toBe(calls + 2);
    const after = await objectsOf(await store());
    expect(JSON.parse(after.get('manifest.json') ?? '')).toMatchObject({ calls: 8, credits: 8 * 160 });
    expect(withoutManifest(after)).toEqual(withoutManifest(before));
    expect(await program('verify', address, '--strict')).toMatchObject({ exit: 0 });
  }, 120_000);

  it('is reported from its address, unfinished and complete', async () => {
    const { folder, address, program, run, store } = await sixtyIds(twoFormats);
    // Four calls: two of three parts.
    expect(await run(address, '--credits-per-run', '640', '--report')).toMatchObject({ exit: 8 });
    const early = JSON.parse((await program('report', address, '--json')).stdout) as ReportData;
    expect(early).toMatchObject({ name: address, state: { kind: 'stopped', exit: 8 }, parts: 2 });
    expect(String(await readObject(await store(), 'report.html'))).toContain('stopped, exit 8');

    expect(await run(address)).toMatchObject({ exit: 0 });
    const written = await program('report', address);
    expect(written).toMatchObject({ exit: 0, stdout: expect.stringContaining(`${address}/report.html`) as string });
    const page = String(await readObject(await store(), 'report.html'));
    expect((await program('report', address, '--to', '-')).stdout).toBe(page);
    const { profile, runs } = JSON.parse((await program('report', address, '--json')).stdout) as ReportData;
    const local = JSON.parse(
      (await program('report', await downloaded(await store(), join(folder, 'copy')), '--json')).stdout,
    ) as ReportData;
    expect(profile).toEqual(local.profile);
    expect(profile?.tables.map(({ name }) => name)).toEqual(['assets', 'creators']);
    expect(runs).toEqual(local.runs);
    expect(await program('verify', address, '--strict')).toMatchObject({ exit: 0 });
    expect(await program('report', address, '--open')).toMatchObject({ exit: 2 });
  }, 120_000);

  it('ends with 7 where access is denied, the bucket is missing or the credentials have expired, and is resumed', async () => {
    const { service, address, run, hooks } = await sixtyIds();
    server.denied.set('PUT', denied);
    expect(await run(address)).toMatchObject({
      exit: 7,
      stderr: expect.stringContaining('access is denied') as string,
    });
    server.denied.clear();
    expect(await run('s3://other/prefix')).toMatchObject({
      exit: 7,
      stderr: expect.stringContaining('the bucket does not exist') as string,
    });
    expect(service.counts().calls).toBe(0);
    // They expire while parts are made.
    hooks.onCall = (number) => {
      if (number === 3) server.denied.set('PUT', { status: 400, code: 'ExpiredToken' });
    };
    expect(await run(address)).toMatchObject({ exit: 7, stderr: expect.stringContaining('credentials') as string });
    server.denied.clear();
    expect(await run(address)).toMatchObject({ exit: 0 });
    expect(service.counts().calls).toBe(6);
  }, 120_000);

  it('is refused by a store that overwrites', async () => {
    const { service, address, run } = await sixtyIds();
    bucket.ways.overwrites = true;
    expect(await run(address)).toMatchObject({
      exit: 2,
      stderr: expect.stringContaining('overwrites objects') as string,
    });
    expect(service.counts().calls).toBe(0);
  }, 60_000);

  it('keeps its .run where nothing may be deleted, and refuses --fresh there', async () => {
    const { address, run, store } = await sixtyIds();
    server.denied.set('DELETE', denied);
    expect(await run(address)).toMatchObject({
      exit: 0,
      stderr: expect.stringContaining('/.run/ stays: Delete is not allowed') as string,
    });
    expect((await namesOf(await store(), '.run/')).length).toBeGreaterThan(0);
    const again = await run(address);
    expect(again).toMatchObject({ exit: 0 });
    expect(again.stderr).not.toContain('stays');
    expect(await run(address, '--fresh')).toMatchObject({
      exit: 7,
      stderr: expect.stringContaining('--fresh') as string,
    });
    server.denied.clear();
    expect(await run(address, '--fresh')).toMatchObject({ exit: 0 });
  }, 120_000);

  it('of a process that is killed is resumed from its scratch folder, and shown by status', async () => {
    const { folder, address, environment, job, program, run, service } = await sixtyIds();
    const args = ['run', ...job, '--out', address, '--concurrency', '1'];
    const { child, ended } = startProgram([...args, '--credits-per-second', '320'], { cwd: folder, environment });
    while (service.counts().calls < 3) await systemClock.sleep(20);
    child.kill('SIGKILL');
    await ended;
    const status = JSON.parse((await program('status', address, '--json')).stdout) as { state: string; parts: number };
    expect(['running', 'stopped']).toContain(status.state);
    expect(await run(address)).toMatchObject({ exit: 0 });
    // The call in flight is all that may be paid twice.
    expect(service.counts().calls).toBeLessThanOrEqual(7);
    expect(await program('verify', address)).toMatchObject({ exit: 0 });
  }, 120_000);

  it('with {date} finishes the newest unfinished one first', async () => {
    const { address, run, service } = await sixtyIds();
    const old = `${address}/day=2020-01-01`;
    expect(await run(old, '--credits-per-run', '320')).toMatchObject({ exit: 8 });
    expect(await run(`${address}/day={date}`)).toMatchObject({ exit: 0 });
    expect(service.counts().calls).toBe(12);
    expect(JSON.parse((await run(old, '--json')).stdout)).toMatchObject({ state: 'already' });
  }, 120_000);
});
