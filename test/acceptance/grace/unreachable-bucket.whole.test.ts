import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { BucketOfTests } from '../../contract/objects/bucket-of-tests.ts';
import { serveGcs } from '../../contract/objects/gcs-bucket.ts';
import { type FaultyServer, startFaultyServer, type StoreFaultOfTests } from '../../contract/objects/faulty-server.ts';
import { writeIdFile } from '../../support/id-file.ts';
import { runHere } from '../../support/run-here.ts';
import { startProgram } from '../../support/run-program.ts';
import { type GeneratedServiceOptions, startGeneratedService } from '../../support/service/generated-service.ts';
import { tempFolder } from '../../support/temp-folder.ts';
import { azuriteServer, bucketServer, type FleetStore } from '../fleet/fleet-stores.ts';
import { graceMs, newEvent, stopped } from './stop-program.ts';
import { runsAll } from '../../support/lane.ts';
import { sampled } from '../../model/support/sample.ts';

/** What a bucket does from a moment on. `gone`: it breaks connections. */
const faults = {
  gone: 'lost',
  silent: 'hang',
  busy: { status: 503, code: 'SlowDown' },
} as const satisfies Record<string, StoreFaultOfTests>;

/** The request from which on a bucket does so: its operation and path. */
const moments = {
  'the start': /./,
  'a part': /^PUT .*part-00001\.csv/,
  'the manifest': /^PUT .*manifest\.json/,
  'latest.json': /^PUT .*latest\.json/,
} as const;

interface Breakdown {
  readonly fault: keyof typeof faults;
  readonly moment: keyof typeof moments;
}

/** Google's bucket in the process of the test. Its client sends no credentials to such an address. */
async function gcsServer(): Promise<FleetStore> {
  const served = serveGcs(new BucketOfTests(), 'secret');
  const server = await startFaultyServer({
    ...served,
    answer: (request, body) => {
      request.headers.authorization = 'Bearer access-token-of-tests';
      return served.answer(request, body);
    },
  });
  return {
    name: 'Google Cloud Storage',
    server,
    stop: server.stop,
    addressOf: (folder) => `gs://bucket/${folder.slice(1).replaceAll('/', '-')}`,
    environment: { STORAGE_EMULATOR_HOST: server.endpoint, GOOGLE_CLOUD_PROJECT: 'tests' },
  };
}

/** A service, 60 ids for six calls, and a bucket of its own. */
async function sixCalls(open: () => Promise<FleetStore>, options: GeneratedServiceOptions = {}) {
  const [folder, store, service] = [await tempFolder(), await open(), await startGeneratedService(options)];
  onTestFinished(async () => {
    await Promise.all([store.stop(), service.stop()]);
  });
  await writeIdFile(join(folder, 'ids.txt'), { entries: 60 });
  const { server } = store;
  if (server === undefined) throw new Error('a bucket has a server');
  const job = [
    ...['--ids', 'ids.txt', '--url', service.url, '--out', `${store.addressOf(folder)}/night`, '--latest'],
    ...['--ids-per-call', '10', '--rows-per-part', '20', '--entries-per-slice', '60'],
    ...['--format', 'csv', '--threads', '1'],
  ];
  const on = (scratch: string) => ({
    cwd: folder,
    environment: {
      ...store.environment,
      ASSET_EXPORT_API_KEY: 'key',
      ASSET_EXPORT_STATE: join(folder, 'state'),
      ASSET_EXPORT_SCRATCH: join(folder, scratch),
    },
  });
  return { service, server, job, on };
}

/** Breaks a bucket at a moment, until it is healed. */
function breakDown(server: FaultyServer, { fault, moment }: Breakdown) {
  const broken = newEvent();
  let isBroken = false;
  server.draw = (operation, path) => {
    isBroken ||= moments[moment].test(`${operation} ${path}`);
    if (!isBroken) return undefined;
    if (fault === 'gone') server.goAway(true);
    broken.happen();
    return faults[fault];
  };
  const heal = (): void => {
    server.goAway(false);
    server.draw = () => undefined;
  };
  // Its requests have failed for some time then.
  return { heal, when: () => broken.happened.then(() => delay(700)) };
}

/** Stops a program whose bucket broke down, and runs it again: nothing is paid for twice. */
async function stopAndResume(
  open: () => Promise<FleetStore>,
  { command, ...breakdown }: Breakdown & { readonly command: 'run' | 'work' },
) {
  const { service, server, job, on } = await sixCalls(open);
  const options = on('scratch');
  if (command === 'work') expect(await runHere(['enqueue', ...job], options)).toMatchObject({ exit: 0 });
  const { heal, when } = breakDown(server, breakdown);
  const args = [command, ...job, '--grace-ms', String(graceMs)];
  expect(await stopped({ args, options, when })).toMatchObject({
    exit: 143,
    stderr: expect.stringContaining('stopped by SIGTERM') as string,
  });
  heal();
  expect(await runHere([command, ...job], options)).toMatchObject({ exit: 0 });
  expect(service.counts().calls).toBe(6);
}

// Promise, Nothing lost: After a signal an unreachable bucket gets `--grace-ms` and 2 s, a slow one all kept answers; nothing is paid twice (sampled)
describe('SIGTERM ends a run in its time of grace', () => {
  const all = [
    { moment: 'the start', kinds: ['gone', 'silent', 'busy'] },
    { moment: 'a part', kinds: ['gone', 'silent', 'busy'] },
    { moment: 'the manifest', kinds: ['silent'] },
    { moment: 'latest.json', kinds: ['busy'] },
  ] as const;
  const sample = [
    { moment: 'the start', kinds: ['gone'] },
    { moment: 'a part', kinds: ['silent'] },
    { moment: 'latest.json', kinds: ['busy'] },
  ] as const;

  it.each<{ moment: Breakdown['moment']; kinds: readonly Breakdown['fault'][] }>(runsAll ? all : sample)(
    'while its bucket is $kinds from $moment on',
    async ({ moment, kinds }) => {
      await Promise.all(kinds.map((fault) => stopAndResume(bucketServer, { command: 'run', fault, moment })));
    },
    120_000,
  );

  it.runIf(runsAll).each([
    { name: 'Google Cloud Storage', open: gcsServer },
    { name: 'Azure', open: azuriteServer },
  ])(
    'while its bucket in $name is silent',
    async ({ open }) => {
      await stopAndResume(open, { command: 'run', fault: 'silent', moment: 'a part' });
    },
    120_000,
  );
});

it.each(sampled(['a part', 'the manifest'] as const, 2))(
  'SIGTERM ends a worker in its time of grace while its bucket is silent from %s on',
  async (moment) => {
    await stopAndResume(bucketServer, { command: 'work', fault: 'silent', moment });
  },
  120_000,
);

it('SIGTERM ends enqueue at once while its bucket is silent', async () => {
  const { server, job, on } = await sixCalls(bucketServer);
  const { heal, when } = breakDown(server, { fault: 'silent', moment: 'the start' });
  expect(await stopped({ args: ['enqueue', ...job], options: on('scratch'), when })).toMatchObject({ exit: 143 });
  heal();
  expect(await runHere(['enqueue', ...job], on('scratch'))).toMatchObject({ exit: 0 });
}, 60_000);

it('a bucket that answers gets the answers of a worker whose time of grace is over, however slow it is', async () => {
  const held = newEvent();
  const fourth = newEvent();
  onTestFinished(held.happen);
  const { service, server, job, on } = await sixCalls(bucketServer, {
    at: (point, { number }) => {
      if (point !== 'received' || number !== 4) return;
      fourth.happen();
      return held.happened;
    },
  });
  expect(await runHere(['enqueue', ...job], on('one'))).toMatchObject({ exit: 0 });
  server.draw = (operation, path) => (operation === 'PUT' && path.includes('/answers/') ? 'slow' : undefined);
  const args = ['work', ...job, '--concurrency', '1', '--grace-ms', String(graceMs)];
  const { child, ended } = startProgram(args, on('one'));
  await fourth.happened;
  child.kill('SIGTERM');
  expect(await ended).toMatchObject({ exit: 143 });
  // The call that was in flight is the only one that is sent again.
  expect(await runHere(['work', ...job], on('another machine'))).toMatchObject({ exit: 0 });
  expect(service.counts().calls).toBe(7);
}, 60_000);
