import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type ObjectStore, readObject } from '../../../src/places/objects/object-store.ts';
import { verifyExport } from '../../../src/exports/verify-export.ts';
import { bucketFiles } from '../../../src/places/export/bucket-files.ts';
import { type Manifest, parseManifest } from '../../../src/places/export/manifest.ts';
import { MemoryBuckets } from '../../support/memory-buckets.ts';
import { night, serviceWith } from '../../support/nights.ts';
import { tempFolder } from '../../support/temp-folder.ts';
import { first, flagsOfNights, newer, repairCounted, second } from './based-nights.ts';

const base = 's3://bucket/nights/date=2026-11-20';
const out = 's3://bucket/nights/date=2026-11-22';

/** Two nights in a bucket. */
async function inBucket() {
  const buckets = new MemoryBuckets();
  const { openStore } = buckets;
  const context = { openStore };
  const scratch = await tempFolder();
  const ids = join(scratch, 'ids.txt');
  writeFileSync(ids, `${second.ids.join('\n')}\n`);
  const flags = { ...flagsOfNights, scratch, 'entries-per-slice': '50' };
  await night({ ...first, out: base, context, flags: { ...flags, base: 'none', tables: 'assets,creators' } });
  await night({ ...second, out, context, flags: { ...flags, base, ids } });
  const { url, stop } = await serviceWith(newer);
  onTestFinished(stop);
  const store = await openStore({ address: out });
  const repair = (more: Readonly<Record<string, unknown>> = {}, own: ObjectStore = store) => {
    const opened = (request: { readonly address: string }) => (request.address === out ? own : openStore(request));
    return repairCounted({
      flags: { ids, url, out, scratch, ...more },
      context: { openStore: async (request) => opened(request) },
    });
  };
  const lose = (part: number) => {
    const paths = ['csv', 'parquet'].flatMap((format) =>
      ['assets', 'changes'].map((table) => `${format}/${table}/part-0000${part}.${format}`),
    );
    return store.remove(paths);
  };
  const manifest = async (): Promise<Manifest> => parseManifest(await readObject(store, 'manifest.json'), out);
  const damage = async () => (await verifyExport(bucketFiles(store, out), out)).damage;
  const left = (): readonly string[] => [
    ...buckets.names(out).filter((name) => name.startsWith('.run/')),
    ...readdirSync(scratch, { recursive: true, encoding: 'utf8' }).filter((name) => name.includes('repair')),
  ];
  return { buckets, store, repair, lose, manifest, damage, left, gone: join(scratch, 'gone.txt') };
}

/** A store as a process sees it that is killed while it puts the files of a part: after so many of them. */
function breaksAfter(store: ObjectStore, files: number): ObjectStore {
  let isDead = false;
  const living =
    <A extends unknown[], R>(work: (...args: A) => Promise<R>) =>
    (...args: A): Promise<R> =>
      isDead ? Promise.reject(new Error('the process was killed')) : work(...args);
  return {
    isShared: store.isShared,
    putNew: living((name, body) => store.putNew(name, body)),
    replace: living((name, body, tag) => store.replace(name, body, tag)),
    put: living((name, body) => store.put(name, body)),
    remove: living((names) => store.remove(names)),
    putAll: living(async (bodies) => {
      if (bodies.every(({ name }) => name.startsWith('.run/'))) return store.putAll(bodies);
      await store.putAll(bodies.slice(0, files));
      isDead = true;
      throw new Error('the process was killed');
    }),
    look: (name) => store.look(name),
    read: (name, range) => store.read(name, range),
    list: (prefix) => store.list(prefix),
    names: (folder) => store.names(folder),
  };
}

describe('a repair of an export with a base in a bucket', () => {
  it('requests every id of a damaged part, from the kept ids where the list is gone, and drops the table changes', async () => {
    const { buckets, left, gone, repair, lose, manifest, damage } = await inBucket();
    const before = await manifest();
    await lose(1);
    const outcome = await repair({ ids: gone });
    expect(outcome).toMatchObject({ parts: [1], sent: 2, bill: { calls: 2 }, after: { damage: [], strangers: [] } });
    expect(outcome.notes).toEqual([
      expect.stringContaining('the ids are read from ids/'),
      expect.stringContaining('Carried rows'),
      expect.stringContaining('The table changes is removed'),
    ]);
    expect(await damage()).toEqual([]);
    expect(await manifest()).toMatchObject({ calls: before.calls + 2, base: before.base });
    expect(buckets.names(out).filter((name) => name.includes('/changes/'))).toEqual([]);
    expect(left()).toEqual([]);
  });

  // Promise, Nothing lost: Another machine resumes a repair in a bucket; nothing is paid twice
  it('is resumed on another machine after its credits ended, or after it was killed while it put files back, and pays for nothing twice', async () => {
    const { store, left, repair, lose, manifest, damage } = await inBucket();
    const before = await manifest();
    for (const part of [0, 1]) await lose(part);
    await store.remove(['csv/assets/part-00003.csv', 'parquet/assets/part-00003.parquet']);
    const stopped = await repair({ 'credits-per-run': '320' });
    expect(stopped).toMatchObject({ error: { exit: 'spent' }, sent: 2 });
    const scratch = await tempFolder();
    await expect(repair({ scratch }, breaksAfter(store, 3))).rejects.toThrow('killed');
    expect(await damage()).not.toEqual([]);
    const resumed = await repair({ scratch });
    expect(resumed).toMatchObject({ after: { damage: [] } });
    expect(await damage()).toEqual([]);
    expect((await manifest()).calls).toBe(before.calls + (stopped.bill?.calls ?? 0));
    expect(left().filter((name) => name.startsWith('.run/'))).toEqual([]);
  });
});
