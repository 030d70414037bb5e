import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { ObjectStore } from '../../../src/places/objects/object-store.ts';
import { readObject, namesOf } from '../../../src/places/objects/small-objects.ts';
import { repairInBucket } from '../../../src/wings/repair/repair-in-bucket.ts';
import { verifyExport } from '../../../src/exports/verify-export.ts';
import { bucketFiles } from '../../../src/places/export/bucket-files.ts';
import { diskFileStore } from '../../../src/places/files/file-store.ts';
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
  const whole = buckets.tableBytes(out);
  const folder = join(scratch, 'repair');
  const repair = (more: Readonly<Record<string, unknown>> = {}, own: ObjectStore = store) => {
    const place = { files: bucketFiles(own, out), folder: out, store: own };
    return repairInBucket({ place, disk: diskFileStore, folder }, () =>
      repairCounted({ flags: { ids, url, out: folder, ...more }, place: out, context }),
    ) as ReturnType<typeof repairCounted>;
  };
  const lose = (part: number) => {
    const paths = ['csv', 'parquet'].flatMap((format) =>
      ['assets', 'changes'].map((table) => `${format}/${table}/part-0000${part}.${format}`),
    );
    return store.remove(paths);
  };
  const manifest = async (): Promise<Manifest> => parseManifest(await readObject(store, 'manifest.json'), out);
  const damage = async () => (await verifyExport(bucketFiles(store, out), out)).damage;
  return { buckets, openStore, store, whole, folder, repair, lose, manifest, damage };
}

/** A store that breaks when so many objects are to be put into it. */
function breaksAfter(store: ObjectStore, puts: number): ObjectStore {
  let left = puts;
  const counted =
    <A extends unknown[], R>(put: (...args: A) => Promise<R>) =>
    (...args: A): Promise<R> => {
      left -= 1;
      return left < 0 ? Promise.reject(new Error('the process was killed')) : put(...args);
    };
  return new Proxy(store, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      const bound = (value as (...args: unknown[]) => Promise<unknown>).bind(target);
      return name === 'putNew' || name === 'replace' ? counted(bound) : bound;
    },
  });
}

describe('a repair of an export with a base in a bucket', () => {
  it('reads the ids from the export where the list is gone', async () => {
    const { buckets, whole, folder, repair, lose, damage } = await inBucket();
    await lose(1);
    const outcome = await repair({ ids: join(folder, 'gone.txt') });
    expect(outcome.after.damage).toEqual([]);
    expect(outcome.notes[0]).toContain('the ids are read from ids/');
    expect(await damage()).toEqual([]);
    expect(buckets.tableBytes(out)).toEqual(whole);
  });

  it('takes carried rows from the base beside it, and pays for the requested ids alone', async () => {
    const { buckets, whole, folder, repair, lose, manifest, damage } = await inBucket();
    const before = await manifest();
    await lose(1);
    const outcome = await repair();
    expect(outcome).toMatchObject({ parts: [1], sent: outcome.bill?.calls, notes: [] });
    expect(buckets.tableBytes(out)).toEqual(whole);
    expect(await damage()).toEqual([]);
    expect(await manifest()).toEqual({
      ...before,
      calls: before.calls + outcome.sent,
      credits: before.credits + outcome.credits,
    });
    expect(await diskFileStore.sizeOf(folder)).toBeUndefined();
  });

  it('requests every id where the base is gone', async () => {
    const { buckets, openStore, repair, lose, manifest, damage } = await inBucket();
    const store = await openStore({ address: base });
    await store.remove(await namesOf(store, ''));
    await lose(1);
    expect(await repair()).toMatchObject({ parts: [1], sent: 2, notes: [expect.stringContaining(`beside ${out}`)] });
    expect(await damage()).toEqual([]);
    expect((await manifest()).base).toMatchObject({ withoutBase: [1] });
    expect(buckets.names(out).filter((name) => name.startsWith('.run/'))).toEqual([]);
  });

  it('is resumed after its credits ended, or after it was killed while it put files back, and pays for nothing twice', async () => {
    const { buckets, store, whole, folder, repair, lose, manifest, damage } = await inBucket();
    const before = await manifest();
    await lose(0);
    await lose(1);
    const stopped = await repair({ 'credits-per-run': '320' });
    expect(stopped).toMatchObject({ error: { exit: 'spent' }, sent: 2 });
    const left = (stopped.bill?.calls ?? 0) - 2;
    await expect(repair({}, breaksAfter(store, 3))).rejects.toThrow('killed');
    expect(await damage()).not.toEqual([]);
    expect(await repair()).toMatchObject({ parts: [], sent: 0, after: { damage: [] } });
    expect(await damage()).toEqual([]);
    expect(buckets.tableBytes(out)).toEqual(whole);
    expect((await manifest()).calls).toBe(before.calls + 2 + left);
    expect(await diskFileStore.sizeOf(folder)).toBeUndefined();
  });
});
