import { expect, it } from 'vitest';
import { partsWithDamage } from '../../../src/places/log/slice-log.ts';
import { MemoryObjects } from '../../support/memory-objects.ts';

const file = { path: 'a.csv', part: 3, bytes: 1, format: 'csv', table: 'assets', rows: 1 };

it.each([
  { looks: 5, isShared: true, damaged: [] },
  { looks: 6, isShared: true, damaged: [3] },
  // What a disk does not have is gone.
  { looks: 1, isShared: false, damaged: [3] },
])('a file that shows after $looks looks is damaged: $damaged', async ({ looks, isShared, damaged }) => {
  const store = new MemoryObjects().open();
  await store.putNew(file.path, { bytes: Buffer.from('x') });
  const sha256 = (await store.look(file.path))?.sha256 ?? '';
  let left = looks;
  let waitedMs = 0;
  const late = {
    ...store,
    isShared,
    look: (name: string) => (left-- > 0 ? Promise.resolve(undefined) : store.look(name)),
  };
  const clock = { sleep: async (ms: number) => void (waitedMs += ms) };
  expect([...(await partsWithDamage({ store: late, clock }, [{ ...file, sha256 }])).keys()]).toEqual(damaged);
  expect(waitedMs).toBe(isShared ? 5000 : 0);
});
