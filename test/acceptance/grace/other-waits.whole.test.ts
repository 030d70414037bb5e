import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { keyHash } from '../../../src/core/client/ledger/ledger-file.ts';
import { systemClock, utcDay } from '../../../src/lib/clock.ts';
import { ownerLink, thisProcess } from '../../../src/lib/process/lock-owner.ts';
import { writeIdFile } from '../../support/id-file.ts';
import {
  type CallPoint,
  type GeneratedServiceOptions,
  startGeneratedService,
} from '../../support/service/generated-service.ts';
import { tempFolder } from '../../support/temp-folder.ts';
import { bucketServer } from '../fleet/fleet-stores.ts';
import { graceMs, newEvent, stopped } from './stop-program.ts';

/** A service, ids for twenty calls of 0.2 s, one at a time, and something that happens when the third one arrives. */
async function twentyCalls(onThird: () => void, options: GeneratedServiceOptions = {}) {
  const folder = await tempFolder();
  const third = newEvent();
  const service = await startGeneratedService({
    delayMs: 200,
    ...options,
    at: (point: CallPoint, { number }) => {
      if (point !== 'received' || number !== 3) return;
      onThird();
      third.happen();
    },
  });
  onTestFinished(() => service.stop());
  await writeIdFile(join(folder, 'ids.txt'), { entries: 200 });
  const args = [
    ...['run', '--ids', 'ids.txt', '--url', service.url, '--ids-per-call', '10', '--rows-per-part', '20'],
    ...['--concurrency', '1', '--format', 'csv', '--grace-ms', String(graceMs)],
  ];
  const environment = { ASSET_EXPORT_API_KEY: 'key', ASSET_EXPORT_STATE: join(folder, 'state') };
  return { folder, service, args, environment, third: third.happened };
}

// Promise, Nothing lost: Heartbeats, ledger lock and notifications end within `--grace-ms` of a signal
it('SIGTERM ends a run whose calls wait for a heartbeat that no bucket takes', async () => {
  const store = await bucketServer();
  onTestFinished(async () => {
    await store.stop();
  });
  const { folder, args, environment, service, third } = await twentyCalls(() => {
    if (store.server !== undefined) store.server.draw = () => 'hang';
  });
  const run = await stopped({
    args: [...args, '--out', store.addressOf(folder), '--dead-after-seconds', '1'],
    options: {
      cwd: folder,
      environment: { ...environment, ...store.environment, ASSET_EXPORT_SCRATCH: join(folder, 'scratch') },
    },
    when: () => third.then(() => delay(1500)),
  });
  expect(run.exit, run.stderr).toBe(143);
  expect(service.counts().calls).toBeLessThan(10);
});

it('SIGTERM ends a run that waits for another process to let go of the ledger', async () => {
  const { folder, args, environment, third } = await twentyCalls(() => {
    const locks = join(folderOfState(), 'ledger-locks');
    mkdirSync(locks, { recursive: true });
    // The test stands for a process that was stopped while it wrote.
    symlinkSync(ownerLink(thisProcess('stopped'), 1), join(locks, `${keyHash('key')}-${utcDay(systemClock.now())}`));
  });
  const folderOfState = (): string => join(folder, 'state');
  const run = await stopped({
    args: [...args, '--out', 'out'],
    options: { cwd: folder, environment },
    when: () => third.then(() => delay(500)),
  });
  expect(run.exit, run.stderr).toBe(143);
});

it('SIGTERM ends a run whose notifications nobody answers', async () => {
  const receiver = createServer(() => undefined).listen(0, '127.0.0.1');
  onTestFinished(() => {
    receiver.close();
    receiver.closeAllConnections();
  });
  const { folder, args, environment, third } = await twentyCalls(() => undefined);
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
  writeFileSync(
    join(folder, 'job.yaml'),
    `notify:\n  - { url: '${url}/a', as: healthchecks }\n  - { url: '${url}/b', as: json }\n`,
  );
  const run = await stopped({
    args: [...args.slice(0, 1), 'job.yaml', ...args.slice(1), '--out', 'out', '--lineage-url', `${url}/c`],
    options: { cwd: folder, environment },
    when: () => third,
  });
  expect(run.exit, run.stderr).toBe(143);
  expect(run.stderr).toContain('could not be delivered: no answer within 0.5 s');
});
