import { createHash, randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { maxObjectBytes, type ObjectBody, type ObjectStore } from '../../../src/places/objects/object-store.ts';
import { probeStore } from '../../../src/places/objects/open-objects.ts';
import { tempFolder } from '../../support/temp-folder.ts';

export interface StoreOfTests {
  readonly name: string;
  /** A store with nothing in it. */
  readonly open: () => Promise<ObjectStore>;
  /** A folder keeps no hashes. */
  readonly keepsHashes?: false;
}

const text = (value: string): { readonly bytes: Uint8Array } => ({ bytes: Buffer.from(value) });

export function hashOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** These bytes in a file, to put. */
export async function fileOf(bytes: Uint8Array): Promise<ObjectBody> {
  const file = join(await tempFolder(), 'part');
  await writeFile(file, bytes);
  return { file, bytes: bytes.length, sha256: hashOf(bytes) };
}

export async function allOf<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

export async function bytesOf(blocks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  return Buffer.concat(await allOf(blocks));
}

async function namesOf(store: ObjectStore, prefix: string): Promise<string[]> {
  return (await allOf(store.list(prefix))).map(({ name }) => name);
}

async function tagOf(store: ObjectStore, name: string): Promise<string> {
  const found = await store.look(name);
  if (found === undefined) throw new Error(`no ${name}`);
  return found.tag;
}

/** What every store of objects does. */
export function describeObjectStore({ name: storeName, open, keepsHashes }: StoreOfTests): void {
  const kept = (bytes: Uint8Array): string | undefined => (keepsHashes === false ? undefined : hashOf(bytes));
  describe(`object store: ${storeName}`, () => {
    it('puts a new object, from memory or from a file, and says its size and hash', async () => {
      const store = await open();
      const bytes = randomBytes(300_000);
      const bodies: [string, ObjectBody][] = [
        ['a/memory.bin', { bytes }],
        ['a/b/file.bin', await fileOf(bytes)],
      ];
      for (const [name, body] of bodies) {
        expect(await store.look(name)).toBeUndefined();
        expect(await store.putNew(name, body)).toBe('put');
        expect(await store.look(name)).toMatchObject({ bytes: 300_000, sha256: kept(bytes) });
        expect(bytes.equals(await bytesOf(store.read(name)))).toBe(true);
      }
    });

    it('takes an empty object, and names with spaces and signs', async () => {
      const store = await open();
      const name = "odd names/a b+c=d&e'(1)%20ä.csv";
      expect(await store.putNew(name, text(''))).toBe('put');
      expect(await store.look(name)).toMatchObject({ bytes: 0, sha256: kept(Buffer.of()) });
      expect(await bytesOf(store.read(name))).toHaveLength(0);
      expect(await namesOf(store, 'odd names/')).toEqual([name]);
    });

    it('keeps what is there when a name is taken', async () => {
      const store = await open();
      await store.putNew('one', text('first'));
      expect(await store.putNew('one', text('second'))).toBe('taken');
      expect(String(await bytesOf(store.read('one')))).toBe('first');
    });

    it('puts the files of a part, and names those that were taken', async () => {
      const store = await open();
      await store.putNew('csv/b/part-00000.csv', text('before'));
      const names = ['csv/a/part-00000.csv', 'csv/b/part-00000.csv', 'parquet/a/part-00000.parquet'];
      const bodies = await Promise.all(names.map(async (name) => ({ name, body: await fileOf(Buffer.from(name)) })));
      expect(await store.putAll(bodies)).toEqual(['csv/b/part-00000.csv']);
      expect(String(await bytesOf(store.read('csv/b/part-00000.csv')))).toBe('before');
      for (const name of [names[0] ?? '', names[2] ?? '']) expect(String(await bytesOf(store.read(name)))).toBe(name);
      const tag = await tagOf(store, 'csv/b/part-00000.csv');
      expect(await store.replace('csv/b/part-00000.csv', bodies[1]?.body ?? text(''), tag)).toBe('put');
      expect(String(await bytesOf(store.read('csv/b/part-00000.csv')))).toBe('csv/b/part-00000.csv');
    });

    it('lets one of 16 racers win', async () => {
      const store = await open();
      const racers = Array.from({ length: 16 }, (_, racer) => `racer ${racer}`);
      const results = await Promise.all(racers.map((racer) => store.putNew('log/000001.json', text(racer))));
      const winners = racers.filter((_, index) => results[index] === 'put');
      expect(winners).toEqual([String(await bytesOf(store.read('log/000001.json')))]);
    });

    it('replaces what was seen, and nothing that changed since', async () => {
      const store = await open();
      await store.putNew('one', text('first'));
      const first = await tagOf(store, 'one');
      expect(await store.replace('one', text('second'), first)).toBe('put');
      expect(await store.replace('one', text('third'), first)).toBe('changed');
      expect(String(await bytesOf(store.read('one')))).toBe('second');
      expect(await store.replace('one', text('third'), await tagOf(store, 'one'))).toBe('put');
      expect(await store.replace('none', text('new'), first)).toBe('changed');
      expect(await store.look('none')).toBeUndefined();
    });

    it('lets one of 16 replacers of one object win', async () => {
      const store = await open();
      await store.putNew('one', text('first'));
      const tag = await tagOf(store, 'one');
      const racers = Array.from({ length: 16 }, (_, racer) => `racer ${racer}`);
      const results = await Promise.all(racers.map((racer) => store.replace('one', text(racer), tag)));
      const winners = racers.filter((_, index) => results[index] === 'put');
      expect(winners).toEqual([String(await bytesOf(store.read('one')))]);
    });

    it('puts over what is there', async () => {
      const store = await open();
      await store.put('.run/alive/one.json', text('1'));
      await store.put('.run/alive/one.json', text('22'));
      expect(String(await bytesOf(store.read('.run/alive/one.json')))).toBe('22');
    });

    it('reads a range, up to the end where it is longer', async () => {
      const store = await open();
      await store.putNew('one', text('0123456789'));
      expect(String(await bytesOf(store.read('one', { from: 2, length: 3 })))).toBe('234');
      expect(String(await bytesOf(store.read('one', { from: 8, length: 10 })))).toBe('89');
    });

    it('says that an object is absent when it is read', async () => {
      const store = await open();
      await expect(bytesOf(store.read('none'))).rejects.toMatchObject({ exit: 'damaged' });
    });

    it('lists 1,001 names in order, those of a prefix alone, and removes them', async () => {
      const store = await open();
      const names = Array.from({ length: 1001 }, (_, index) => `many/${String(index).padStart(6, '0')}`);
      await inTurns(names, (name) => store.putNew(name, text('x')));
      await store.putNew('manyfold', text('yy'));
      expect(await namesOf(store, 'many/')).toEqual(names);
      expect(await allOf(store.list('manyf'))).toEqual([{ name: 'manyfold', bytes: 2 }]);
      expect(await namesOf(store, 'nothing/')).toEqual([]);
      await store.remove([...names, 'never there']);
      expect(await namesOf(store, '')).toEqual(['manyfold']);
    });

    it('lists what is directly within a folder', async () => {
      const store = await open();
      const names = ['a.json', 'day=1/x', 'day=1/y/z', 'day=10/x', 'day=2/deep/er/x', 'days', 'other/day=3/x'];
      for (const name of names) await store.putNew(name, text('x'));
      const within = async (folder: string) =>
        (await allOf(store.names(folder))).filter((name) => !name.startsWith('.')).sort();
      expect(await within('')).toEqual(['a.json', 'day=1/', 'day=10/', 'day=2/', 'days', 'other/']);
      expect(await within('day=1/')).toEqual(['x', 'y/']);
      expect(await within('none/')).toEqual([]);
    });

    it('refuses more than 5 GB before it reads a byte', async () => {
      const store = await open();
      const body = { file: '/nowhere/at/all', bytes: maxObjectBytes + 1, sha256: hashOf(Buffer.of()) };
      await expect(store.putNew('large', body)).rejects.toMatchObject({ exit: 'usage' });
      await expect(store.put('large', body)).rejects.toMatchObject({ exit: 'usage' });
      await expect(store.replace('large', body, 'tag')).rejects.toMatchObject({ exit: 'usage' });
    });

    it('passes the probe, which leaves nothing behind', async () => {
      const store = await open();
      expect(await probeStore(store, storeName)).toMatchObject({ canReplace: true, canRemove: true });
      expect(await namesOf(store, '')).toEqual([]);
    });
  });
}

/** A hundred at a time. */
async function inTurns(names: readonly string[], work: (name: string) => Promise<unknown>): Promise<void> {
  for (let start = 0; start < names.length; start += 100) await Promise.all(names.slice(start, start + 100).map(work));
}
