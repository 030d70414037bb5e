import { jobOfNothing } from '../../../src/core/run/job-shape.ts';
import type { ExportPlace } from '../../../src/core/run/homes/export-place.ts';
import { inFolder } from '../../../src/core/run/homes/export-place.ts';
import { inBucket } from '../../../src/core/run/homes/shared-home.ts';
import { noBase } from '../../../src/core/job/night-names.ts';
import { type ObjectStore, storeWithin } from '../../../src/places/objects/object-store.ts';
import { nightsAt, planPruning, pruneFollowed } from '../../../src/wings/nights/index.ts';
import { type Lake, lakeAt, lakeFollower, rebuildLake } from '../../../src/wings/lake/index.ts';
import { MemoryObjects } from '../../support/memory-objects.ts';
import { MemoryDisk, type Operation } from './memory-disk.ts';
import { SmallExport } from './small-export.ts';

export const top = '/exports';
const bucketTop = 's3://bucket/exports';
export const smallDays = ['2026-11-20', '2026-11-21', '2026-11-22'];
const clock = { now: () => Date.UTC(2026, 10, 25) };

/** Three complete nights in memory, not published. @param idsPath of a small export */
export async function threeNights(idsPath: string): Promise<MemoryDisk> {
  const small = new SmallExport(idsPath);
  for (const [index, day] of smallDays.entries()) {
    const base = index === 0 ? noBase : `${top}/date=*`;
    const flags = {
      out: `${top}/date={date}`,
      format: 'parquet',
      compression: 'parquet=snappy',
      tables: 'assets,creators,changes',
    };
    const outcome = await small.run({
      startMs: Date.parse(`${day}T02:00:00Z`),
      flags: { ...flags, base, 'max-age': '1h', 'base-credits': '320', 'max-failed': '100%' },
    });
    if (outcome?.state !== 'complete') throw outcome?.error ?? new Error('the night was killed');
  }
  return small.disk;
}

/** Where three nights lie, and how what is done there is met by a kill. */
export interface SmallLake {
  readonly place: ExportPlace;
  readonly disk: MemoryDisk;
  /** Files below the root, by their names. */
  names(): string[];
  read(name: string): Buffer | undefined;
  write(name: string, bytes: Buffer): void;
  /** Starts the machine again. */
  restart(): void;
}

export function lakeInFolder(nights: MemoryDisk): SmallLake {
  const disk = nights.copy();
  return {
    place: inFolder(disk.files, top),
    disk,
    names: () =>
      [...disk.tree.all().keys()]
        .filter((path) => path.startsWith(`${top}/`))
        .map((path) => path.slice(top.length + 1)),
    read: (name) => disk.tree.fileAt(`${top}/${name}`)?.content(),
    write: (name, bytes) => {
      const file = disk.tree.fileAt(`${top}/${name}`);
      file?.truncate(0);
      file?.write(0, bytes);
      file?.sync();
    },
    restart: () => {
      disk.restart();
    },
  };
}

export function lakeInBucket(nights: MemoryDisk): SmallLake {
  const objects = new MemoryObjects();
  const plain = objects.open();
  for (const [path, inode] of nights.tree.all()) {
    const [, name] = /^\/exports\/(.*)$/.exec(path) ?? [];
    if (name !== undefined && !name.includes('/.run/'))
      void plain.putNew(`exports/${name}`, { bytes: inode.content() });
  }
  const disk = new MemoryDisk();
  const store: ObjectStore = objects.open(({ name }, when) => {
    if (when === 'before') disk.meets({ kind: 'store', path: name });
  });
  const within = storeWithin(store, 'exports');
  return {
    place: inBucket(within, bucketTop),
    disk,
    names: () => [...objects.objects.keys()].map((name) => name.slice('exports/'.length)),
    read: (name) => {
      const found = objects.objects.get(`exports/${name}`);
      return found && Buffer.from(found.bytes);
    },
    write: (name, bytes) => {
      objects.objects.delete(`exports/${name}`);
      void plain.putNew(`exports/${name}`, { bytes });
    },
    restart: () => {
      disk.restart();
    },
  };
}

export function openSmall({ place }: SmallLake): Lake {
  return lakeAt({ place, clock });
}

/** What a run, `prune`, a rebuild and a repair do with the tables. */
export const commands = {
  /** As the run of each night does. */
  publish: async ({ place, disk }: SmallLake): Promise<void> => {
    for (const day of smallDays) {
      const job = jobOfNothing(`${place.folder}/date=${day}`);
      const night = { job, outputDir: `${place.folder}/date={date}` };
      const context = {
        files: disk.files,
        clock: { ...clock, monotonic: clock.now, sleep: async () => undefined },
        random: () => 0.5,
      };
      await lakeFollower.completed(night, { ...context, openStore: async () => place.store });
    }
  },
  prune: async ({ place }: SmallLake): Promise<void> => {
    const nights = await nightsAt(place, clock);
    const pruning = await planPruning(nights, { last: 2, daily: 0, weekly: 0, monthly: 0 }, { today: '2026-12-31' });
    const lake = async () => lakeFollower;
    await pruneFollowed({ place, clock }, { place: nights, pruning }, { lake });
  },
  rebuild: async (small: SmallLake): Promise<void> => {
    await rebuildLake(openSmall(small), { location: 's3://readers/nightly', isDone: true });
  },
  repair: ({ place }: SmallLake): Promise<void> =>
    lakeFollower.repaired({ place, clock }, `date=${smallDays[1] ?? ''}`),
};

/** The operations of a command that nothing disturbs. */
export async function operationsOf(small: SmallLake, command: keyof typeof commands): Promise<Operation[]> {
  const operations: Operation[] = [];
  small.disk.weather = (operation) => {
    operations.push(operation);
    return { kind: 'happens' };
  };
  await commands[command](small);
  small.disk.restart();
  return operations;
}
