import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { systemClock } from '../../../src/lib/clock.ts';
import { bucketInFolder } from '../../support/bucket-in-folder.ts';
import { type ObjectStore, readObject, namesOf } from '../../../src/places/objects/object-store.ts';
import { openObjects } from '../../../src/places/objects/open-objects.ts';
import { SeededRandom } from '../../../packages/practice-service/src/generated/seeded-random.ts';
import {
  type GeneratedServiceOptions,
  type SeenCall,
  startGeneratedService,
} from '../../support/service/generated-service.ts';
import { type IdFileShape, writeIdFile } from '../../support/id-file.ts';
import { exportBytes } from '../../support/run-export.ts';
import { runHere } from '../../support/run-here.ts';
import { type ProgramRun, runProgram, startProgram } from '../../support/run-program.ts';
import { tempFolder } from '../../support/temp-folder.ts';
import { folderAddress } from './folder-address.ts';
import type { FleetStore } from './fleet-stores.ts';

export interface FleetRequest {
  readonly store: FleetStore;
  readonly ids: IdFileShape;
  readonly service?: GeneratedServiceOptions;
  /** Share of calls that are refused with 429, and share of answers that are cut, in percent. */
  readonly badPercent?: number;
  /** Flags in place of the usual ones, without dashes. */
  readonly flags?: Readonly<Record<string, string>>;
  /** Of all workers. */
  readonly environment?: Readonly<Record<string, string>>;
}

export type Fleet = Awaited<ReturnType<typeof startFleet>>;

const usualFlags = {
  ids: 'ids.txt',
  'ids-per-call': '10',
  'rows-per-part': '20',
  'entries-per-slice': '40',
  format: 'csv',
  'dead-after-seconds': '2',
  concurrency: '2',
  threads: '1',
};

/** A service, and an export that was enqueued for workers with a scratch folder and a key each, which have its name. */
export async function startFleet({ store, ids, service = {}, badPercent = 0, flags, environment }: FleetRequest) {
  const folder = await tempFolder();
  const calls = newCalls();
  const random = new SeededRandom([1, 2, 3, 4]);
  const running = await startGeneratedService({
    throttled: () => (random.chance(badPercent) ? 0 : undefined),
    ...service,
    at: async (point, call) => {
      if (point === 'received') calls.arrived(call);
      if (point === 'half sent' && random.chance(badPercent)) throw new Error('a cut answer');
      await service.at?.(point, call);
    },
  });
  onTestFinished(() => running.stop());
  await writeIdFile(join(folder, 'ids.txt'), ids);
  const address = store.addressOf(folder);
  const job = (out: string): string[] =>
    Object.entries({ ...usualFlags, ...flags, ids: join(folder, 'ids.txt'), url: running.url, out }).flatMap(
      ([name, value]) => [`--${name}`, value],
    );
  const on = (scratch: string, more: Readonly<Record<string, string>> = {}) => ({
    cwd: folder,
    environment: {
      ...store.environment,
      ASSET_EXPORT_API_KEY: scratch,
      ASSET_EXPORT_STATE: join(folder, `state-${scratch}`),
      ASSET_EXPORT_SCRATCH: join(folder, scratch),
      ...environment,
      ...more,
    },
  });
  const worker = (scratch: string) => ({ ...on(scratch), program: store.program });
  /** In this process, but for a store that needs a program of its own. */
  const program = (scratch: string, command: string, ...more: string[]): Promise<ProgramRun> => {
    const args = [command, ...job(address), ...more];
    return store.program === undefined ? runHere(args, on(scratch)) : runProgram(args, worker(scratch));
  };
  const start = (scratch: string, ...more: string[]) =>
    startProgram(['work', ...job(address), ...more], worker(scratch));
  expect(await program('one', 'enqueue')).toMatchObject({ exit: 0 });
  return {
    folder,
    service: running,
    address,
    job,
    on,
    program,
    start,
    objects: await open(store, address),
    /** Resolves with the next call that is meant, before it is answered. */
    called: calls.next,
    /** Ends a worker and removes its disk. */
    lose: async (scratch: string, { child, ended }: ReturnType<typeof startProgram>): Promise<void> => {
      child.kill('SIGKILL');
      expect(await ended).toMatchObject({ exit: 'SIGKILL' });
      rmSync(join(folder, scratch), { recursive: true, force: true });
    },
    /** A command about the export. */
    about: (command: string, ...more: string[]) =>
      runHere([command, folderAddress.folder(address), ...more], on('reader')),
  };
}

function open({ endpoint }: FleetStore, address: string): Promise<ObjectStore> {
  if (folderAddress.isOne(address)) return Promise.resolve(bucketInFolder(folderAddress.folder(address)));
  return openObjects({ address, endpoint, clock: systemClock, random: Math.random });
}

/** Calls as they arrive. */
function newCalls() {
  const waiting = new Set<(call: SeenCall) => void>();
  return {
    arrived: (call: SeenCall): void => {
      for (const look of waiting) look(call);
    },
    next: (isMeant: (call: SeenCall) => boolean): Promise<SeenCall> =>
      new Promise((resolve) => {
        const look = (call: SeenCall): void => {
          if (!isMeant(call)) return;
          waiting.delete(look);
          resolve(call);
        };
        waiting.add(look);
      }),
  };
}

/** True for the nth call with a key. */
export function nthOf(key: string, nth: number): (call: SeenCall) => boolean {
  let seen = 0;
  return (call) => call.key === key && (seen += 1) === nth;
}

/** Sees that the files are those of one machine that works alone in a folder. */
export async function expectWhole({ folder, objects, job, on, about }: Fleet): Promise<void> {
  expect(await about('verify')).toMatchObject({ exit: 0 });
  const alone = on('local', { ASSET_EXPORT_FLEET: '' });
  expect(await runHere(['run', ...job('local')], alone)).toMatchObject({ exit: 0 });
  for (const name of await namesOf(objects, '')) {
    mkdirSync(dirname(join(folder, 'copy', name)), { recursive: true });
    writeFileSync(join(folder, 'copy', name), await readObject(objects, name));
  }
  const files = (path: string) =>
    Object.entries(exportBytes(join(folder, path))).filter(([name]) => name !== 'manifest.json');
  expect(files('copy')).toEqual(files('local'));
}
