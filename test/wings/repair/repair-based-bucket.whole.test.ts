import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type ObjectStore, readObject, namesOf } from '../../../src/places/objects/object-store.ts';
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
  const whole = buckets.tableBytes(out);
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
  return { buckets, openStore, store, whole, repair, lose, manifest, damage, left, gone: join(scratch, 'gone.txt') };
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
  it('reads the ids from the export where the list is gone', async () => {
    const { buckets, whole, gone, repair, lose, damage } = await inBucket();
    await lose(1);
    const outcome = await repair({ ids: gone });
    expect(outcome.after.damage).toEqual([]);
    expect(outcome.notes[0]).toContain('the ids are read from ids/');
    expect(await damage()).toEqual([]);
    expect(buckets.tableBytes(out)).toEqual(whole);
  });

  it('takes carried rows from the base beside it, and pays for the requested ids alone', async () => {
    const { buckets, whole, left, repair, lose, manifest, damage } = await inBucket();
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
    expect(left()).toEqual([]);
  });

  it('requests every id where the base is gone', async () => {
    const { openStore, left, repair, lose, manifest, damage } = await inBucket();
    const store = await openStore({ address: base });
    await store.remove(await namesOf(store, ''));
    await lose(1);
    expect(await repair()).toMatchObject({ parts: [1], sent: 2, notes: [expect.stringContaining(`beside ${out}`)] });
    expect(await damage()).toEqual([]);
    expect((await manifest()).base).toMatchObject({ withoutBase: [1] });
    expect(left()).toEqual([]);
  });

  it('is resumed after its credits ended, or after it was killed while it put files back, and pays for nothing twice', async () => {
    const { buckets, store, whole, left, repair, lose, manifest, damage } = await inBucket();
    const before = await manifest();
    await lose(0);
    await lose(1);
    const stopped = await repair({ 'credits-per-run': '320' });
    expect(stopped).toMatchObject({ error: { exit: 'spent' }, sent: 2 });
    const calls = (stopped.bill?.calls ?? 0) - 2;
    await expect(repair({}, breaksAfter(store, 3))).rejects.toThrow('killed');
    expect(await damage()).not.toEqual([]);
    expect(await repair()).toMatchObject({ parts: [0, 1], sent: 0, after: { damage: [] } });
    expect(await damage()).toEqual([]);
    expect(buckets.tableBytes(out)).toEqual(whole);
    expect((await manifest()).calls).toBe(before.calls + 2 + calls);
    expect(left()).toEqual([]);
  });

  it.each([true, false])('is resumed on another machine without paying twice, with the base: %s', async (hasBase) => {
    const { buckets, openStore, whole, left, repair, lose, manifest, damage } = await inBucket();
    const before = await manifest();
    const store = await openStore({ address: base });
    if (!hasBase) await store.remove(await namesOf(store, ''));
    for (const part of [0, 1]) await lose(part);
    await (await openStore({ address: out })).remove([
      'csv/assets/part-00003.csv',
      'parquet/assets/part-00003.parquet',
    ]);
    const stopped = await repair({ 'credits-per-run': '320' });
    expect(stopped).toMatchObject({ error: { exit: 'spent' }, sent: 2 });
    const calls = stopped.bill?.calls ?? 0;
    const resumed = await repair({ scratch: await tempFolder() });
    expect(resumed).toMatchObject({ parts: [0, 1, 3], sent: calls - 2, after: { damage: [] } });
    expect((await manifest()).calls).toBe(before.calls + calls);
    expect(await damage()).toEqual([]);
    expect(left().filter((name) => name.startsWith('.run/'))).toEqual([]);
    if (hasBase) expect(buckets.tableBytes(out)).toEqual(whole);
  });
});
