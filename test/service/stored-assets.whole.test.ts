import {
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import bs58 from 'bs58';
import { describe, expect, it } from 'vitest';
import { idOfBytes } from '../../src/lib/ids/asset-id.ts';
import { readExport } from '../../src/practice-service.ts';
import { buildStore, IndexedStore } from '../../packages/practice-service/src/store/indexed-store.ts';
import { openStoredAssets } from '../../packages/practice-service/src/store/stored-assets.ts';
import { generatedId, generatedRecord } from '../../packages/practice-service/src/generated/generated-assets.ts';
import { runProgram } from '../support/run-program.ts';
import { call, fileOf, idOf, post, serve, temporaryFolder } from './local-service.ts';

const ids = Array.from({ length: 3000 }, (_, n) => generatedId(2, n));
const lines = ids.map(generatedRecord);
const show = { showFungible: true, showCollectionMetadata: true };

function openStored(assets: readonly string[], storeDir: string) {
  return openStoredAssets({ assets, readExport }, storeDir);
}

describe('the id of a key', () => {
  it('is its 32 bytes in base58', () => {
    const edges = ['1'.repeat(32), 'JEKNVnkbo3jma5nREBBJCDoXFVeKkD56V3xKrvRmWxFG', `${'1'.repeat(31)}2`];
    for (const id of [...edges, ...ids]) {
      expect(idOfBytes(Buffer.from(bs58.decode(id)))).toBe(id);
    }
  });
});

describe('the store on disk', () => {
  it('serves the same texts as memory does', async () => {
    const stored = await serve(lines, { storeDir: temporaryFolder() });
    const params = [[...ids.slice(0, 900), idOf(1)], show];
    expect(await call(stored, 'getAssets', params)).toBe(
      `{"jsonrpc":"2.0","result":[${lines.slice(0, 900).join(',')},null],"id":1}`,
    );
    expect(stored.assets).toBe(3000);
  });

  it('is built with the last record of each id, whatever its length', async () => {
    const few = lines.slice(0, 600);
    const again = ids.slice(0, 50).map((id, n) => `{"id":"${id}","again":"${'x'.repeat(n * 4000)}"}`);
    // Longer than what is collected before it is written.
    again.push(`{"id":"${ids[50] ?? ''}","long":"${'y'.repeat(3_000_000)}"}`);
    const folder = join(temporaryFolder(), 'store');
    await buildStore({ assets: [fileOf([...few, ...again])], readExport }, folder);
    expect(readdirSync(folder).sort()).toEqual(['index', 'records.jsonl']);
    expect(readFileSync(join(folder, 'records.jsonl'), 'utf8')).toBe(`${[...few, ...again].join('\n')}\n`);
    const store = IndexedStore.open(folder);
    expect(store?.count).toBe(600);
    for (const [index, line] of few.entries()) {
      expect(store?.get(ids[index] ?? '')?.text.toString()).toBe(again[index] ?? line);
    }
    expect(store?.get(idOf(5))).toBeUndefined();
    expect(store?.get('no id')).toBeUndefined();
    await store?.close();
  });

  it('is opened again without reading the files, and replaced when they change', async () => {
    const storeDir = temporaryFolder();
    const path = fileOf(lines);
    const first = await openStored([path], storeDir);
    const [folder = ''] = readdirSync(storeDir);
    const builtMs = statSync(join(storeDir, folder)).mtimeMs;
    const again = await openStored([path], storeDir);
    expect(statSync(join(storeDir, folder)).mtimeMs).toBe(builtMs);
    expect(again.count).toBe(3000);
    writeFileSync(path, `{"id":"${ids[0] ?? ''}"}\n`);
    utimesSync(path, 1, 1);
    const changed = await openStored([path], storeDir);
    expect(changed.count).toBe(1);
    expect(readdirSync(storeDir)).toHaveLength(1);
    expect(readdirSync(storeDir)).not.toContain(folder);
    // Those who had the old store open still have it.
    expect(first.get(ids[7] ?? '')?.text.toString()).toContain(ids[7]);
    await Promise.all([first.close(), again.close(), changed.close()]);
  });

  it('is built by several at once, though they have the same pid, as in containers', async () => {
    const storeDir = temporaryFolder();
    const path = fileOf(lines);
    const stores = await Promise.all([1, 2, 3].map(() => openStored([path], storeDir)));
    expect(stores.map(({ count }) => count)).toEqual([3000, 3000, 3000]);
    expect(readdirSync(storeDir)).toHaveLength(1);
    await Promise.all(stores.map((store) => store.close()));
  });

  it('is built again beside a damaged one, which services that have it open keep, and takes the place of older ones', async () => {
    const storeDir = temporaryFolder();
    const assets = [fileOf(lines)];
    const first = await openStored(assets, storeDir);
    const [folder = ''] = readdirSync(storeDir);
    truncateSync(join(storeDir, folder, 'index'), 0);
    mkdirSync(join(storeDir, 'assets-0123456789abcdef'));
    const second = await openStored(assets, storeDir);
    expect(readdirSync(storeDir)).toEqual([folder]);
    for (const store of [first, second]) expect(store.get(ids[7] ?? '')?.text.toString()).toContain(ids[7]);
    await Promise.all([first.close(), second.close()]);
  });

  it('gives the record of an id or says that it is damaged, whatever became of its file', async () => {
    const storeDir = temporaryFolder();
    const store = await openStored([fileOf(lines)], storeDir);
    const path = join(storeDir, readdirSync(storeDir)[0] ?? '', 'records.jsonl');
    const whole = readFileSync(path);
    const place = whole.indexOf(lines[7] ?? '');
    const swapped = [...lines.slice(0, 7), lines[8], lines[7], ...lines.slice(9), ''].join('\n');
    const flipped = [0, 60, (lines[7] ?? '').length - 1].map((at) => {
      const bytes = Buffer.from(whole);
      bytes[place + at] = (bytes[place + at] ?? 0) ^ 1;
      return bytes;
    });
    const zeros = Buffer.concat([whole.subarray(0, place), Buffer.alloc(4096), whole]);
    for (const changed of [...flipped, zeros, swapped, whole.subarray(0, place + 100)]) {
      writeFileSync(path, changed);
      expect(() => store.get(ids[7] ?? '')).toThrow(expect.objectContaining({ exit: 'damaged' }));
      writeFileSync(path, whole);
      expect(store.get(ids[7] ?? '')?.text.toString()).toBe(lines[7]);
    }
    await store.close();
  });

  it('answers 500 and reports it for a damaged record, and serves all others', async () => {
    const storeDir = temporaryFolder();
    const errors: unknown[] = [];
    const onError = (error: unknown) => errors.push(error);
    const service = await serve(lines, { storeDir, onError });
    const store = readdirSync(storeDir).find((name) => name.startsWith('assets-')) ?? '';
    const path = join(storeDir, store, 'records.jsonl');
    writeFileSync(path, readFileSync(path, 'utf8').replace(ids[7] ?? '', ids[8] ?? ''));
    const body = (id = '') => ({ jsonrpc: '2.0', id: 1, method: 'getAsset', params: [id, show] });
    expect((await post(service, body(ids[7]))).status).toBe(500);
    expect(errors).toMatchObject([{ exit: 'damaged', message: expect.stringContaining(store) as string }]);
    expect(await call(service, 'getAsset', [ids[8], show])).toContain(lines[8]);
  });

  it('takes away what builders that were killed left', async () => {
    const storeDir = temporaryFolder();
    mkdirSync(join(storeDir, 'building-01234567-89ab-4cde-8f01-23456789abcd', 'spill'), { recursive: true });
    writeFileSync(join(storeDir, 'building-site.txt'), 'of the user');
    await (await openStored([fileOf(lines)], storeDir)).close();
    expect(readdirSync(storeDir)).toEqual([expect.stringMatching(/^assets-/), 'building-site.txt']);
  });

  it('is built by services with other files too, of which one takes away what the other builds', async () => {
    const storeDir = temporaryFolder();
    const paths = [fileOf(lines), fileOf(lines.slice(0, 500))];
    const stores = await Promise.all(paths.map((path) => openStored([path], storeDir)));
    expect(stores.map(({ count }) => count)).toEqual([3000, 500]);
    expect(readdirSync(storeDir)).toHaveLength(1);
    await Promise.all(stores.map((store) => store.close()));
  });

  it('is not there when its files cannot be read to the end', async () => {
    const storeDir = temporaryFolder();
    const path = fileOf([...lines, 'nonsense']);
    await expect(openStored([path], storeDir)).rejects.toThrow(`${path}:3001: the line is not JSON`);
    expect(readdirSync(storeDir)).toEqual([]);
  });

  it('says what to do where it cannot be built, and leaves nothing of it', async () => {
    const storeDir = temporaryFolder();
    // No file grows beyond a block: a real write is refused (EFBIG), as on a full disk, after one that was not.
    const assets = fileOf([`{"id":"${'1'.repeat(32)}"}`, `{"id":"${idOf(5)}","x":"${'x'.repeat(2000)}"}`]);
    const flags = ['serve', '--assets', assets, '--store', storeDir, '--port', '0'];
    const { exit, stderr } = await runProgram(flags, { largestFile: 1 });
    expect([exit, stderr]).toEqual([
      7,
      expect.stringMatching(/cannot build the store in .*EFBIG.*\n +Free disk space/),
    ]);
    expect(readdirSync(storeDir)).toEqual([]);
  });

  it('says what to do when its balances cannot be made', async () => {
    const storeDir = temporaryFolder();
    const assets = [fileOf(lines)];
    await (await openStored(assets, storeDir)).close();
    writeFileSync(join(storeDir, 'balances'), 'a file in its place');
    await expect(serve([], { assets, storeDir })).rejects.toMatchObject({
      exit: 'cannotWrite',
      todo: expect.stringContaining('move the file that is in the way') as string,
    });
  });

  // Promise, Nothing lost: `serve` rebuilds a damaged store, and returns no damaged record
  it('is built again when it was cut, emptied or overwritten', async () => {
    const storeDir = temporaryFolder();
    const assets = [fileOf(lines.slice(0, 100))];
    const options = { assets, storeDir };
    await (await serve([], options)).close();
    const [store = ''] = readdirSync(storeDir).map((name) => join(storeDir, name));
    const damages: ((path: string) => void)[] = [0, 28, 100, 2000].map((length) => (path) => {
      truncateSync(path, length);
    });
    damages.push((path) => {
      writeFileSync(path, 'something else\n'.repeat(5000));
    });
    damages.push((path) => {
      rmSync(path);
    });
    for (const name of ['records.jsonl', 'index']) {
      for (const damage of damages) {
        damage(join(store, name));
        const service = await serve([], options);
        expect(service.assets).toBe(100);
        expect(await call(service, 'getAsset', [ids[7], show])).toContain(ids[7]);
        await service.close();
      }
    }
    // As long as it was, with one bit of another value.
    const index = readFileSync(join(store, 'index'));
    index[30] = (index[30] ?? 0) ^ 1;
    writeFileSync(join(store, 'index'), index);
    expect(IndexedStore.open(store)).toBeUndefined();
    expect((await serve([], options)).assets).toBe(100);
    expect(readdirSync(storeDir)).toHaveLength(2);
  });

  it('begins a balance anew that was cut, emptied or overwritten, and keeps one of which a copy is whole', async () => {
    const storeDir = temporaryFolder();
    const assets = [fileOf(lines.slice(0, 100))];
    const body = { jsonrpc: '2.0', id: 1, method: 'getAsset', params: [ids[0]] };
    const service = await serve([], { assets, storeDir, creditsPerDay: 480 });
    const remaining = async () => (await post(service, body)).headers.get('x-credits-remaining');
    expect(await remaining()).toBe('320');
    const [name = ''] = readdirSync(join(storeDir, 'balances')).filter((each) => each !== 'locks');
    const path = join(storeDir, 'balances', name);
    const whole = readFileSync(path);
    writeFileSync(path, Buffer.concat([Buffer.alloc(whole.length / 2), whole.subarray(whole.length / 2)]));
    expect(await remaining()).toBe('160');
    for (const length of [0, 100, whole.length - 1]) {
      truncateSync(path, length);
      expect(await remaining()).toBe('320');
    }
    writeFileSync(path, 'something else\n'.repeat(5000));
    expect(await remaining()).toBe('320');
  });

  it('keeps balances from one service to the next', async () => {
    const storeDir = temporaryFolder();
    const body = { jsonrpc: '2.0', id: 1, method: 'getAsset', params: [ids[0]] };
    const records = fileOf(lines);
    for (const remaining of ['320', '160', '0']) {
      const service = await serve([], { assets: [records], storeDir, creditsPerDay: 480 });
      expect((await post(service, body)).headers.get('x-credits-remaining')).toBe(remaining);
      await service.close();
    }
    const service = await serve([], { assets: [records], storeDir, creditsPerDay: 480 });
    expect((await post(service, body)).status).toBe(402);
  });

  it('answers 500 and reports it while a balance cannot be kept, and goes on when it can', async () => {
    const storeDir = temporaryFolder();
    const errors: unknown[] = [];
    const onError = (error: unknown) => errors.push(error);
    const service = await serve(lines.slice(0, 10), { storeDir, creditsPerDay: 480, onError });
    const body = { jsonrpc: '2.0', id: 1, method: 'getAsset', params: [ids[0]] };
    const locks = join(storeDir, 'balances', 'locks');
    renameSync(locks, `${locks}-away`);
    expect((await post(service, body)).status).toBe(500);
    expect(errors).toMatchObject([
      { exit: 'cannotWrite', message: expect.stringContaining('keep balances') as string },
    ]);
    renameSync(`${locks}-away`, locks);
    expect((await post(service, body)).headers.get('x-credits-remaining')).toBe('320');
    expect(service.counts()).toMatchObject({ calls: 1, credits: 160 });
  });

  it('books exactly the credits of a day, however many services share the folder and call at once', async () => {
    const storeDir = temporaryFolder();
    const assets = [fileOf(lines.slice(0, 10))];
    const options = { assets, storeDir, creditsPerDay: 160 * 25 };
    const services = await Promise.all([1, 2, 3].map(() => serve([], options)));
    const body = { jsonrpc: '2.0', id: 1, method: 'getAsset', params: [ids[0]] };
    const replies = await Promise.all(
      Array.from({ length: 20 }, () => services.map((service) => post(service, body))).flat(),
    );
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(25);
    expect(replies.filter(({ status }) => status === 402)).toHaveLength(35);
    expect(readdirSync(join(storeDir, 'balances', 'locks'))).toEqual([]);
  });
});
