import { describe, expect, it } from 'vitest';
import type { ObjectStore } from '../../../src/places/objects/object-store.ts';
import { type HomeStart, startBody, CurrentStart } from '../../../src/core/run/homes/home-start.ts';
import { Heartbeat, watchHolder } from '../../../src/places/log/heartbeat.ts';
import { SliceHold } from '../../../src/places/log/slice-hold.ts';
import { SliceLog, sliceNames } from '../../../src/places/log/slice-log.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { MemoryObjects } from '../../support/memory-objects.ts';

/** The store as one that sends no ETag shows it: every tag is empty, and no replacement is taken. */
function withoutTags(store: ObjectStore): ObjectStore {
  return {
    ...store,
    look: async (name) => {
      const found = await store.look(name);
      return found && { ...found, sha256: undefined, tag: '' };
    },
    replace: () => Promise.resolve('changed'),
  };
}

const stores: Readonly<Record<string, (store: ObjectStore) => ObjectStore>> = {
  'sends tags': (store) => store,
  'sends none': withoutTags,
};

describe.each(Object.entries(stores))('where the store %s', (_name, as) => {
  // Promise, Nothing misread: A living holder is not taken for dead where stores send no ETags
  it('a holder lives while its heartbeat changes, and is dead once it does not', async () => {
    const clock = createFakeClock();
    const store = as(new MemoryObjects().open());
    const hold = await SliceHold.claim({ store, log: new SliceLog(store, 0), scratch: 'a', canReplace: false });
    const heartbeat = await Heartbeat.start({
      store,
      clock,
      nonce: hold?.nonce ?? '',
      slice: 0,
      scratch: 'a',
      deadAfterSeconds: 60,
      process: { host: 'here', pid: 1 },
      spent: () => ({ calls: 0, credits: 0 }),
      answered: () => 0,
      isHeld: () => Promise.resolve(true),
    });
    const watched = async () => {
      const log = new SliceLog(store, 0);
      await log.refresh();
      const watch = { store, log, clock, deadAfterSeconds: 60, stop: new AbortController().signal };
      return clock.runUntil(watchHolder(watch));
    };
    expect(await watched()).toBe('alive');
    await heartbeat.end();
    expect(await watched()).toBe('dead');
  });

  it('an export that was started over is not taken for the one that was opened', async () => {
    const bucket = new MemoryObjects();
    const store = as(bucket.open());
    const begun: HomeStart = { version: 4, job: {}, inputs: [], startedAtMs: 1, encoding: 2, entriesPerSlice: 10 };
    await store.put(sliceNames.start, startBody(begun));
    const current = new CurrentStart({ store, address: 's3://bucket/out' }, begun);
    await current.require();
    await store.put(sliceNames.start, startBody({ ...begun, startedAtMs: 2 }));
    await expect(current.require()).rejects.toMatchObject({ exit: 'locked' });
  });
});
