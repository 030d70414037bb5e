import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../src/lib/clock.ts';
import { openObjects } from '../../src/objects/open-objects.ts';
import { bytesOf, namesOf } from '../../src/operations/homes/bucket-bytes.ts';
import { BucketOfTests } from '../contract/objects/bucket-of-tests.ts';
import { startFaultyServer } from '../contract/objects/faulty-server.ts';
import { serveS3 } from '../contract/objects/s3-bucket.ts';
import { SeededRandom } from '../../src/service/generated/seeded-random.ts';
import { type GeneratedServiceOptions, startGeneratedService } from '../support/generated-service.ts';
import { writeIdFile } from '../support/id-file.ts';
import { exportBytes } from '../support/run-export.ts';
import { runProgram, startProgram } from '../support/run-program.ts';
import { tempFolder } from '../support/temp-folder.ts';

const credentials = {
  ...{ AWS_ACCESS_KEY_ID: 'key', AWS_SECRET_ACCESS_KEY: 'secret', AWS_REGION: 'us-east-1' },
  AWS_EC2_METADATA_DISABLED: 'true',
};
Object.assign(process.env, credentials);
const bucket = new BucketOfTests();
const server = await startFaultyServer(serveS3(bucket, 'secret'));
afterAll(server.stop);

interface FleetService extends GeneratedServiceOptions {
  /** Share of answers whose connection breaks in the middle. */
  readonly brokenPercent?: number;
  /** No call is asked before. */
  readonly held?: Promise<void>;
}

/** A service, ids with duplicates and mistakes in parts of 20 and slices of 40, and workers with a scratch folder each. */
async function fleetOf(entries: number, { brokenPercent = 0, held, ...service }: FleetService = {}) {
  const folder = await tempFolder();
  const waiting: { readonly calls: number; readonly go: () => void }[] = [];
  const broken = new SeededRandom([1, 2, 3, 4]);
  const running = await startGeneratedService({
    ...service,
    at: async (point, { number }) => {
      if (point === 'received') for (const { calls, go } of waiting) if (running.counts().calls >= calls) go();
      if (point === 'half sent' && number > 4 && broken.chance(brokenPercent)) throw new Error('a cut answer');
      if (point === 'received') await held;
    },
  });
  const asked = (calls: number): Promise<void> =>
    new Promise((go) => {
      waiting.push({ calls, go });
    });
  onTestFinished(() => running.stop());
  await writeIdFile(join(folder, 'ids.txt'), { entries, invalidPercent: 5, duplicatePercent: 10 });
  const address = `s3://bucket/${folder.slice(1).replaceAll('/', '-')}`;
  const flags = (out: string) => [
    ...['--ids', 'ids.txt', '--url', running.url, '--out', out, '--ids-per-call', '10', '--rows-per-part', '20'],
    ...['--format', 'csv,parquet', '--tables', 'assets,creators', '--entries-per-slice', '40'],
    ...['--dead-after-seconds', '2', '--concurrency', '2', '--threads', '1'],
  ];
  const options = (scratch: string) => ({
    cwd: folder,
    environment: {
      ...{ ...credentials, ASSET_EXPORT_API_KEY: 'key', ASSET_EXPORT_STATE: join(folder, `state-${scratch}`) },
      ...{ ASSET_EXPORT_OUT_ENDPOINT: server.endpoint, ASSET_EXPORT_SCRATCH: join(folder, scratch) },
    },
  });
  const program = (scratch: string, command: string, ...more: string[]) =>
    runProgram([command, ...flags(address), ...more], options(scratch));
  const start = (scratch: string, ...more: string[]) =>
    startProgram(['work', ...flags(address), ...more], options(scratch));
  const local = () => runProgram(['run', ...flags('local')], options('local'));
  const on = (...args: string[]) => runProgram(args, options('reader'));
  const store = await openObjects({ address, endpoint: server.endpoint, clock: systemClock, random: Math.random });
  return { folder, running, address, program, start, local, on, store, asked };
}

type Fleet = Awaited<ReturnType<typeof fleetOf>>;

/** The files of the export in the bucket, and of one made by one machine in a folder. */
async function bothExports({ folder, store, local }: Fleet) {
  expect(await local()).toMatchObject({ exit: 0 });
  const copy = join(folder, 'copy');
  for (const name of await namesOf(store, '')) {
    mkdirSync(dirname(join(copy, name)), { recursive: true });
    writeFileSync(join(copy, name), await bytesOf(store, name));
  }
  const files = (path: string) => Object.entries(exportBytes(path)).filter(([name]) => name !== 'manifest.json');
  return { fleet: files(copy), single: files(join(folder, 'local')) };
}

describe('a fleet', () => {
  it('of which two lose their machines and one is frozen makes the same files, on a bad day', async () => {
    const fleet = await fleetOf(1200, { delayMs: 30, jitterMs: 60, brokenPercent: 10 });
    expect(await fleet.program('one', 'enqueue')).toMatchObject({ exit: 0 });
    const workers = [0, 1, 2, 3].map((n) => fleet.start(`disk-${n}`, '--shard', `${n}/4`));
    const [first, second, frozen, last] = workers;
    await fleet.asked(12);
    frozen?.child.kill('SIGSTOP');
    for (const [n, worker] of [first, second].entries()) {
      worker?.child.kill('SIGKILL');
      await worker?.ended;
      rmSync(join(fleet.folder, `disk-${n}`), { recursive: true, force: true });
    }
    const replacement = fleet.start('disk-4', '--shard', '0/4');
    expect(await last?.ended).toMatchObject({ exit: 0 });
    expect(await replacement.ended).toMatchObject({ exit: 0 });
    frozen?.child.kill('SIGCONT');
    expect(await frozen?.ended).toMatchObject({ exit: 0 });
    expect(await fleet.on('verify', fleet.address)).toMatchObject({ exit: 0 });
    const { fleet: made, single } = await bothExports(fleet);
    expect(made).toEqual(single);
  }, 120_000);

  it('that is told to stop keeps its answers, and nothing is asked again on other machines', async () => {
    const fleet = await fleetOf(600, { delayMs: 40 });
    expect(await fleet.program('one', 'enqueue')).toMatchObject({ exit: 0 });
    const workers = [0, 1, 2, 3].map((n) => fleet.start(`disk-${n}`, '--shard', `${n}/4`));
    await fleet.asked(14);
    for (const [n, { child, ended }] of workers.entries()) {
      child.kill('SIGTERM');
      expect(await ended).toMatchObject({ exit: 143 });
      rmSync(join(fleet.folder, `disk-${n}`), { recursive: true, force: true });
    }
    expect(await fleet.program('other', 'work', '--report')).toMatchObject({ exit: 0 });
    expect(String(await bytesOf(fleet.store, 'report.html'))).toContain('>complete<');
    const { batches } = fleet.running.counts();
    expect(batches.filter(({ asked }) => asked > 1)).toEqual([]);
    expect(await fleet.on('verify', fleet.address)).toMatchObject({ exit: 0 });
    const { fleet: made, single } = await bothExports(fleet);
    expect(made).toEqual(single);
  }, 120_000);

  it('leaves what others hold to them where a worker does not wait', async () => {
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    const fleet = await fleetOf(80, { held });
    expect(await fleet.program('one', 'enqueue')).toMatchObject({ exit: 0 });
    const holders = [fleet.start('disk-0', '--shard', '0/2'), fleet.start('disk-1', '--shard', '1/2')];
    await fleet.asked(3);
    expect(await fleet.program('disk-2', 'work', '--no-wait')).toMatchObject({ exit: 11 });
    const status = JSON.parse((await fleet.on('status', fleet.address, '--json')).stdout) as object;
    expect(status).toMatchObject({ state: 'running', total: 80, totalExact: true, inputShare: 0 });
    expect(status).toMatchObject({
      fleet: { slices: 2, done: 0, held: 2, free: 0, workers: [{ slice: 0 }, { slice: 1 }] },
    });
    const text = await fleet.on('status', fleet.address);
    expect(text.stdout).toContain('is running: 2 workers');
    expect(text.stdout).toContain('slices   0 of 2 done, 2 held, 0 free');
    release();
    for (const { ended } of holders) expect(await ended).toMatchObject({ exit: 0 });
  }, 120_000);
});
