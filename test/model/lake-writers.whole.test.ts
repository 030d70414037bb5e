import { describe, expect, it } from 'vitest';
import { SeededRandom } from '../../packages/practice-service/src/generated/seeded-random.ts';
import { sharedFolderPlace } from '../../src/places/files/folder-place.ts';
import type { ObjectStore } from '../../src/places/objects/object-store.ts';
import { LakeTable } from '../../src/wings/lake/lake-table.ts';
import { addNight } from '../../src/wings/lake/table-changes.ts';
import { nightsOf } from '../../src/wings/lake/table-metadata.ts';
import { MemoryObjects } from '../support/memory-objects.ts';
import { auditTable } from '../wings/lake/support/lake-audit.ts';
import { aboutAssets, fiveNights, smallNight } from '../wings/lake/support/small-nights.ts';
import { Killed, MemoryDisk, type Operation } from './support/memory-disk.ts';
import { sampled } from './support/sample.ts';

const writers = 8;
const rounds = sampled(Array.from({ length: process.env['TEST'] === 'all' ? 200 : 40 }, (_, round) => round));

/** Another writer goes on at each operation, in an order that the round draws. */
function turns(random: SeededRandom): () => Promise<void> {
  return async () => {
    for (let turn = random.below(4); turn > 0; turn -= 1) await new Promise<void>((resolve) => setImmediate(resolve));
  };
}

/** Delays what a store does, so that writers overtake each other. */
function hurried(store: ObjectStore, turn: () => Promise<void>): ObjectStore {
  return {
    isShared: store.isShared,
    putNew: async (name, body) => turn().then(() => store.putNew(name, body)),
    putAll: (bodies) => store.putAll(bodies),
    replace: (name, body, tag) => store.replace(name, body, tag),
    put: async (name, body) => turn().then(() => store.put(name, body)),
    look: async (name) => turn().then(() => store.look(name)),
    read: (name, range) => store.read(name, range),
    list: (prefix) => store.list(prefix),
    names: (folder) => store.names(folder),
    remove: (names) => store.remove(names),
  };
}

const places = {
  'a folder': (disk: MemoryDisk) => () => sharedFolderPlace(disk.files, '/lakes/nightly/lake', '.new'),
  'a bucket': () => {
    const objects = new MemoryObjects();
    return () => objects.open();
  },
};

function assetsIn(store: ObjectStore): LakeTable {
  return new LakeTable({ root: '/lakes/nightly', store, clock: { now: () => 0 } }, 'assets');
}

describe.each(Object.entries(places))('eight writers that publish five nights in %s', (_, openPlace) => {
  // Promise, Nothing misread: Runs that publish at once lose no lake version and publish each night once (sampled)
  it('lose no version, and publish each night once', async () => {
    for (const round of rounds) {
      const random = new SeededRandom([round, 1, 2, 3]);
      const open = openPlace(new MemoryDisk());
      const writer = async (): Promise<void> => {
        const table = assetsIn(hurried(open(), turns(random)));
        for (const night of fiveNights) await addNight(table, smallNight(night), aboutAssets);
      };
      await Promise.all(Array.from({ length: writers }, writer));
      const newest = await assetsIn(open()).newest();
      expect(newest?.version).toBe(fiveNights.length);
      expect(newest && nightsOf(newest.metadata).map(({ night }) => night)).toEqual(fiveNights);
      expect(await auditTable(open(), 'assets')).toEqual([]);
      expect((await assetsIn(open()).files.read('version-hint.text')).toString()).toBe('5');
    }
  });
});

describe('a writer in a folder that is killed at any operation', () => {
  const publish = async (disk: MemoryDisk): Promise<void> => {
    const store = sharedFolderPlace(disk.files, '/lakes/nightly/lake', '.new');
    const table = assetsIn(store);
    for (const night of fiveNights.slice(0, 3)) await addNight(table, smallNight(night), aboutAssets);
  };

  it('leaves a table that the same command completes', async () => {
    const operations: Operation[] = [];
    const calm = new MemoryDisk();
    calm.weather = (operation) => {
      operations.push(operation);
      return { kind: 'happens' };
    };
    await publish(calm);
    expect(operations.length).toBeGreaterThan(100);
    for (const n of sampled(operations.map((__, index) => index))) {
      const disk = new MemoryDisk();
      let count = 0;
      disk.weather = () => {
        count += 1;
        return count > n ? { kind: 'dies', writtenShare: 0.5 } : { kind: 'happens' };
      };
      await expect(publish(disk), String(n)).rejects.toThrow(Killed);
      const random = new SeededRandom([n, 1, 2, 3]);
      disk.restartAfterPowerLoss(() => random.chance(50));
      const store = sharedFolderPlace(disk.files, '/lakes/nightly/lake', '.new');
      expect(await auditTable(store, 'assets'), String(n)).toEqual([]);
      await publish(disk);
      const newest = await assetsIn(store).newest();
      expect(newest && nightsOf(newest.metadata).map(({ night }) => night), String(n)).toEqual(fiveNights.slice(0, 3));
      expect(newest?.version).toBe(3);
      expect(await auditTable(store, 'assets'), String(n)).toEqual([]);
    }
  });
});
