import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { writeIdFile } from '../../support/id-file.ts';
import { type PostgresGate, throughGate } from '../../support/postgres-gate.ts';
import { runHere } from '../../support/run-here.ts';
import { startGeneratedService } from '../../support/service/generated-service.ts';
import { tempFolder } from '../../support/temp-folder.ts';
import { postgresOfTests } from '../../wings/warehouse/postgres-of-tests.ts';
import { bucketServer } from '../fleet/fleet-stores.ts';
import { graceMs, newEvent, stopped } from './stop-program.ts';
import { runsAll } from '../../support/lane.ts';
import { sampled } from '../../model/support/sample.ts';

const server = await postgresOfTests('programs whose shared database is unreachable are not stopped');

/** What a database does from a call on. */
const faults = {
  gone: (gate: PostgresGate) => {
    gate.close();
  },
  silent: (gate: PostgresGate) => {
    gate.silence();
  },
};

interface Breakdown {
  readonly fault: keyof typeof faults;
  readonly command: 'run' | 'work';
  /** The call on whose arrival it breaks down. */
  readonly call: number;
  /** How long the service takes for an answer from then on, in milliseconds. */
  readonly answerMs: number;
  readonly exit: 143 | 0;
}

let keys = 0;

/** A service, 60 ids for six calls, one at a time, and a database that breaks down at one of them. */
async function sixCalls({ fault, command, call, answerMs }: Breakdown) {
  const [folder, gate, store] = [await tempFolder(), await throughGate(server.address), await bucketServer()];
  const broken = newEvent();
  let isBroken = false;
  const service = await startGeneratedService({
    at: async (point, { number }) => {
      if (point !== 'received') return;
      if (number === call && !isBroken) {
        isBroken = true;
        faults[fault](gate);
        broken.happen();
        await delay(answerMs);
      }
    },
  });
  onTestFinished(async () => {
    await Promise.all([store.stop(), service.stop()]);
  });
  await writeIdFile(join(folder, 'ids.txt'), { entries: 60 });
  const out = command === 'run' ? 'out' : store.addressOf(folder);
  const job = [
    ...['--ids', 'ids.txt', '--url', service.url, '--out', out, '--concurrency', '1', '--format', 'csv'],
    ...['--ids-per-call', '10', '--rows-per-part', '20', '--entries-per-slice', '60', '--threads', '1'],
  ];
  const environment = {
    ...(command === 'run' ? {} : store.environment),
    ASSET_EXPORT_API_KEY: `stopped-${(keys += 1)}`,
    ASSET_EXPORT_FLEET: gate.address,
    ASSET_EXPORT_SCRATCH: join(folder, 'scratch'),
  };
  return { gate, service, job, options: { cwd: folder, environment }, broken: broken.happened };
}

/** Stops a program whose database broke down, and runs it again: no answer is paid for twice. */
async function stopAndResume(breakdown: Breakdown): Promise<void> {
  const { command, answerMs, exit } = breakdown;
  const { gate, service, job, options, broken } = await sixCalls(breakdown);
  if (command === 'work') expect(await runHere(['enqueue', ...job], options)).toMatchObject({ exit: 0 });
  const when = () => broken.then(() => delay(400));
  const run = await stopped({ args: [command, ...job, '--grace-ms', String(graceMs)], options, when });
  expect(run.exit, run.stderr).toBe(exit);
  gate.open();
  const again = await runHere([command, ...job], options);
  expect(again, again.stderr).toMatchObject({ exit: 0 });
  // What the service does not answer in the time of grace is sent again.
  expect(service.counts().calls).toBe(answerMs > graceMs ? 7 : 6);
}

// Promise, Nothing lost: An unreachable shared database gets at most `--grace-ms` and 2 s (sampled)
describe.skipIf(server.isMissing)('SIGTERM ends in its time of grace', () => {
  describe.each(runsAll ? (['gone', 'silent'] as const) : (['silent'] as const))(
    'while the shared database is %s',
    (fault) => {
      const moments = [
        { what: 'a run between two calls', command: 'run', call: 3, answerMs: 0, exit: 143 },
        { what: 'a run with a call in flight', command: 'run', call: 1, answerMs: 60_000, exit: 143 },
        { what: 'a run at its last call', command: 'run', call: 6, answerMs: 0, exit: 0 },
        { what: 'a worker between two calls', command: 'work', call: 3, answerMs: 0, exit: 143 },
      ] as const;
      it.each(sampled(moments, 2))(
        '$what',
        async (breakdown) => {
          await stopAndResume({ ...breakdown, fault });
        },
        60_000,
      );
    },
  );
});
