import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { nextUtcMidnight, systemClock } from '../../src/lib/clock.ts';
import { openObjects } from '../../src/objects/open-objects.ts';
import { bytesOf, namesOf } from '../../src/operations/homes/bucket-bytes.ts';
import { BucketOfTests } from '../contract/objects/bucket-of-tests.ts';
import { startFaultyServer } from '../contract/objects/faulty-server.ts';
import { serveS3 } from '../contract/objects/s3-bucket.ts';
import { type GeneratedServiceOptions, startGeneratedService } from '../support/generated-service.ts';
import { writeIdFile } from '../support/id-file.ts';
import { exportBytes } from '../support/run-export.ts';
import { runProgram, startProgram } from '../support/run-program.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { postgresOfTests } from '../warehouse/postgres-of-tests.ts';

const database = await postgresOfTests('workers that share a database are not tested');
const credentials = {
  ...{ AWS_ACCESS_KEY_ID: 'key', AWS_SECRET_ACCESS_KEY: 'secret', AWS_REGION: 'us-east-1' },
  AWS_EC2_METADATA_DISABLED: 'true',
};
Object.assign(process.env, credentials);
const server = await startFaultyServer(serveS3(new BucketOfTests(), 'secret'));
afterAll(server.stop);

/** 600 ids for 60 calls in 15 slices, that were enqueued, and workers that share a database. */
async function fleetOf(options: GeneratedServiceOptions = {}) {
  await database.psql(`drop schema if exists asset_export cascade; drop schema if exists asset_export_queue cascade`);
  const folder = await tempFolder();
  const service = await startGeneratedService(options);
  onTestFinished(() => service.stop());
  await writeIdFile(join(folder, 'ids.txt'), { entries: 600 });
  const address = `s3://bucket/${folder.slice(1).replaceAll('/', '-')}`;
  const job = (out: string) => [
    ...['--ids', 'ids.txt', '--url', service.url, '--out', out, '--ids-per-call', '10', '--rows-per-part', '20'],
    ...['--format', 'csv', '--entries-per-slice', '40', '--dead-after-seconds', '2', '--concurrency', '2'],
    ...['--threads', '1'],
  ];
  const on = (scratch: string, more: Readonly<Record<string, string>> = {}) => ({
    cwd: folder,
    environment: {
      ...{ ...credentials, ASSET_EXPORT_API_KEY: 'key', ASSET_EXPORT_STATE: join(folder, `state-${scratch}`) },
      ...{ ASSET_EXPORT_OUT_ENDPOINT: server.endpoint, ASSET_EXPORT_SCRATCH: join(folder, scratch) },
      ...{ ASSET_EXPORT_FLEET: database.address, ...more },
    },
  });
  const program = (scratch: string, command: string, ...more: string[]) =>
    runProgram([command, ...job(address), ...more], on(scratch));
  const start = (scratch: string, ...more: string[]) =>
    startProgram(['work', ...job(address), '--log-level', 'warn', ...more], on(scratch));
  /** Sees that the files are those of one machine without a database. */
  const expectWhole = async (): Promise<void> => {
    expect(await runProgram(['verify', address], on('reader'))).toMatchObject({ exit: 0 });
    expect(await runProgram(['run', ...job('local')], on('local', { ASSET_EXPORT_FLEET: '' }))).toMatchObject({
      exit: 0,
    });
    const store = await openObjects({ address, endpoint: server.endpoint, clock: systemClock, random: Math.random });
    for (const name of await namesOf(store, '')) {
      mkdirSync(dirname(join(folder, 'copy', name)), { recursive: true });
      writeFileSync(join(folder, 'copy', name), await bytesOf(store, name));
    }
    const files = (path: string) =>
      Object.entries(exportBytes(join(folder, path))).filter(([name]) => name !== 'manifest.json');
    expect(files('copy')).toEqual(files('local'));
  };
  expect(await program('one', 'enqueue')).toMatchObject({ exit: 0 });
  return { folder, service, job, address, on, program, start, expectWhole };
}

/** Jobs that wait, by state. */
async function jobs(): Promise<string> {
  return database.psql(`select state, count(*) from asset_export_queue.job group by state order by state`);
}

async function booked(): Promise<number> {
  return Number(await database.psql(`select coalesce(sum(booked), 0) from asset_export.day`));
}

describe.skipIf(database.isMissing)('workers that share a database', () => {
  it('take slices from its queue, and the last one completes the export', async () => {
    const { service, start, program, expectWhole } = await fleetOf({ delayMs: 20 });
    expect(await jobs()).toMatch(/^wait\w*\|15\n$/);
    const workers = [0, 1, 2].map((n) => start(`disk-${n}`));
    for (const { ended } of workers) expect(await ended).toMatchObject({ exit: 0, stderr: '' });
    expect(service.counts().calls).toBe(60);
    expect(await booked()).toBe(60 * 160);
    expect(await jobs()).toBe('');
    expect(await program('disk-0', 'work')).toMatchObject({ exit: 0 });
    expect(await program('one', 'finalise')).toMatchObject({ exit: 0 });
    await expectWhole();
  }, 120_000);

  it('need no queue: lost and wrong jobs change nothing', async () => {
    let spoil: Promise<unknown> | undefined;
    const { service, start, expectWhole } = await fleetOf({
      delayMs: 20,
      at: (point, { number }) => {
        // Some jobs are lost, some name a slice that is none.
        if (point === 'received' && number === 10) {
          spoil = database.psql(`delete from asset_export_queue.job where id like '%1';
            update asset_export_queue.job set data = '{"dir":"elsewhere","slice":99}' where id like '%2'`);
        }
      },
    });
    const workers = [0, 1].map((n) => start(`disk-${n}`));
    for (const { ended } of workers) expect(await ended).toMatchObject({ exit: 0 });
    await spoil;
    expect(service.counts().calls).toBe(60);
    await expectWhole();
  }, 120_000);

  it('send exactly what the budget of a day allows, two of them killed, and the jobs wait for 00:00 UTC', async () => {
    const short: number[] = [];
    const killed: ReturnType<typeof startProgram>[] = [];
    const { folder, service, program, start, expectWhole } = await fleetOf({
      delayMs: 30,
      at: async (point, { number }) => {
        if (point !== 'received') return;
        if ((await booked()) < number * 160) short.push(number);
        if (number === 10 || number === 14) killed[number === 10 ? 0 : 1]?.child.kill('SIGKILL');
      },
    });
    const budget = ['--credits-per-day', String(40 * 160)];
    killed.push(start('disk-0', ...budget), start('disk-1', ...budget));
    const living = [start('disk-2', ...budget), start('disk-3', ...budget)];
    for (const [n, { ended }] of killed.entries()) {
      expect(await ended).toMatchObject({ exit: 'SIGKILL' });
      rmSync(join(folder, `disk-${n}`), { recursive: true, force: true });
    }
    for (const { ended } of living) expect(await ended).toMatchObject({ exit: 8 });
    expect(short).toEqual([]);
    expect(await booked()).toBe(40 * 160);
    expect(service.counts().calls).toBeLessThanOrEqual(40);
    expect(service.counts().calls).toBeGreaterThanOrEqual(36);
    expect(await jobs()).toContain('delayed|');
    const delayed = await database.psql(`select row_to_json(j) from asset_export_queue.job j where state = 'delayed'`);
    expect(delayed).toContain(String(nextUtcMidnight(Date.now())).slice(0, 10));
    // What is not done is queued again.
    await database.psql(`delete from asset_export_queue.job`);
    expect(await program('one', 'finalise')).toMatchObject({ exit: 5 });
    expect(await jobs()).toMatch(/^wait\w*\|\d+\n$/);
    expect(await program('disk-2', 'work', '--credits-per-day', String(1000 * 160))).toMatchObject({ exit: 0 });
    await expectWhole();
  }, 120_000);

  it('wait for a database that crashes, and none of them dies', async () => {
    let crash: Promise<void> | undefined;
    const { service, start, expectWhole } = await fleetOf({
      delayMs: 20,
      at: (point, { number }) => {
        if (point === 'received' && number === 20) crash = database.crash();
      },
    });
    const workers = [0, 1, 2].map((n) => start(`disk-${n}`));
    while (crash === undefined) await new Promise((resolve) => setTimeout(resolve, 20));
    await crash;
    await new Promise((resolve) => setTimeout(resolve, 1500));
    await database.restart();
    const ends = await Promise.all(workers.map(({ ended }) => ended));
    expect(
      ends.map(({ exit }) => exit),
      ends.map(({ stderr }) => stderr).join('\n'),
    ).toEqual([0, 0, 0]);
    expect(service.counts().calls).toBe(60);
    expect(await booked()).toBeGreaterThanOrEqual(60 * 160);
    expect(await booked()).toBeLessThanOrEqual(66 * 160);
    await expectWhole();
  }, 120_000);

  it('need the package bullmq, and print the line that installs it', async () => {
    const { folder, job, address, on } = await fleetOf();
    const resolve = `export const resolve = (name, context, next) => name === 'bullmq'
      ? Promise.reject(Object.assign(new Error('none'), { code: 'ERR_MODULE_NOT_FOUND' })) : next(name, context);`;
    writeFileSync(
      join(folder, 'without.mjs'),
      `import { register } from 'node:module'; register(${JSON.stringify(`data:text/javascript,${encodeURIComponent(resolve)}`)});`,
    );
    const without = on('one', { NODE_OPTIONS: '--import ./without.mjs' });
    for (const command of ['enqueue', 'work']) {
      expect(await runProgram([command, ...job(address)], without)).toMatchObject({
        exit: 2,
        stderr: expect.stringMatching(
          /needs the package bullmq, which is not installed[^]*npm install bullmq@/,
        ) as string,
      });
    }
    // With --shard no queue is used.
    expect(await runProgram(['work', ...job(address), '--shard', '0/1'], without)).toMatchObject({ exit: 0 });
  }, 120_000);
});
