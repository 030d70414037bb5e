import { mkdirSync, readdirSync, rmSync, statSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import bs58 from 'bs58';
import { describe, expect, it } from 'vitest';
import { idOfKey, writeKey } from '../../src/service/asset-key.ts';
import { readExport } from '../../src/practice-service.ts';
import { buildStore } from '../../src/service/store/build-store.ts';
import { LmdbStore } from '../../src/service/store/lmdb-store.ts';
import { openStoredAssets } from '../../src/service/store/stored-assets.ts';
import { generatedId, generatedRecord } from '../../src/service/generated/generated-assets.ts';
import { runProgram } from '../support/run-program.ts';
import { call, fileOf, idOf, post, serve, temporaryFolder } from './local-service.ts';

const ids = Array.from({ length: 3000 }, (_, n) => generatedId(2, n));
const lines = ids.map(generatedRecord);
const show = { showFungible: true, showCollectionMetadata: true };

function openStored(assets: readonly string[], storeDir: string) {
  return openStoredAssets({ assets, readExport }, storeDir);
}

describe('the key of an id', () => {
  it('is its 32 bytes, and back', () => {
    const key = Buffer.alloc(32);
    const edges = ['1'.repeat(32), 'JEKNVnkbo3jma5nREBBJCDoXFVeKkD56V3xKrvRmWxFG', `${'1'.repeat(31)}2`];
    for (const id of [...edges, ...ids]) {
      writeKey(id, key);
      expect(key.equals(bs58.decode(id))).toBe(true);
      expect(idOfKey(key)).toBe(id);
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

  it('is the same, with the last record of each id, however little is sorted at once', async () => {
    const few = lines.slice(0, 600);
    const again = ids.slice(0, 50).map((id) => `{"id":"${id}","again":true}`);
    const path = fileOf([...few, ...again]);
    for (const sortBytes of [2_000, 64 * 1024 * 1024]) {
      const folder = join(temporaryFolder(), 'store');
      const count = await buildStore({ assets: [path], readExport }, { folder, sortBytes });
      expect(count).toBe(600);
      expect(readdirSync(folder).sort()).toEqual(['data.mdb', 'lock.mdb']);
      const store = new LmdbStore(folder, count);
      for (const [index, line] of few.entries()) {
        const text = again[index] ?? line;
        expect(
          store
            .get(ids[index] ?? '')
            ?.subarray(-Buffer.byteLength(text))
            .toString(),
        ).toBe(text);
      }
      expect(store.get(idOf(5))).toBeUndefined();
      await store.close();
    }
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
    expect(first.get(ids[7] ?? '')?.toString()).toContain(ids[7]);
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

  it('is built while another service opens a finished one of the same files, whose own folder is left alone', async () => {
    const storeDir = temporaryFolder();
    const assets = [fileOf(lines)];
    await (await openStored(assets, storeDir)).close();
    const [folder = ''] = readdirSync(storeDir);
    truncateSync(join(storeDir, folder, 'data.mdb'), 0);
    mkdirSync(join(storeDir, `${folder}-of-a-reader`));
    mkdirSync(join(storeDir, 'assets-of-older-files'));
    await (await openStored(assets, storeDir)).close();
    expect(readdirSync(storeDir)).toEqual([folder, `${folder}-of-a-reader`]);
  });

  it('takes away what was left by builders that were killed, of this version and an earlier one', async () => {
    const storeDir = temporaryFolder();
    for (const name of [`building-${process.pid}`, `building-${process.pid}-one`, 'building-4194305-two'])
      mkdirSync(join(storeDir, name, 'spill'), { recursive: true });
    writeFileSync(join(storeDir, 'building-4194305-two.alive'), '');
    writeFileSync(join(storeDir, 'building-4194305-three.alive.opening'), '');
    writeFileSync(join(storeDir, 'building-site.txt'), 'of the user');
    await (await openStored([fileOf(lines)], storeDir)).close();
    expect(readdirSync(storeDir)).toEqual([expect.stringMatching(/^assets-/), 'building-site.txt']);
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

  it('is built again when it was cut, emptied or overwritten, and so are its balances', async () => {
    const storeDir = temporaryFolder();
    const assets = [fileOf(lines.slice(0, 100))];
    await (await serve([], { assets, storeDir })).close();
    const [store = '', balances = ''] = readdirSync(storeDir).map((name) => join(storeDir, name));
    expect(balances).toMatch(/balances$/);
    const data = [join(store, 'data.mdb'), join(balances, 'data.mdb')];
    const damages: ((path: string) => void)[] = [0, 100, 4096, 16_384, 20_000].map((length) => (path) => {
      if (statSync(path).size > length) truncateSync(path, length);
    });
    damages.push((path) => {
      writeFileSync(path, 'something else\n'.repeat(5000));
    });
    for (const damage of damages) {
      data.forEach(damage);
      const service = await serve([], { assets, storeDir });
      expect(service.assets).toBe(100);
      expect(await call(service, 'getAsset', [ids[7], show])).toContain(ids[7]);
      await service.close();
    }
    rmSync(join(store, 'store.json'));
    expect((await serve([], { assets, storeDir })).assets).toBe(100);
    expect(readdirSync(storeDir)).toHaveLength(2);
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
});
