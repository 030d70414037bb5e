import { readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readRecords } from '../../support/listing/read-records.ts';
import { localDisk } from '../../../src/places/files/disk.ts';
import type { Lock } from '../../../src/places/files/lock.ts';
import { readManifest } from '../../../src/places/export/manifest.ts';
import { listHere } from '../../support/listing/list-here.ts';
import { ListWire, recordOf } from '../../support/listing/list-wire.ts';
import { SimulatedIndex } from '../../support/listing/simulated-index.ts';
import { runHere } from '../../support/run-here.ts';

describe('the records of a list', () => {
  it('are an ordinary export in raw, in the order of the list', async () => {
    const index = new SimulatedIndex({ rows: 2500, seed: 1 });
    const isFailed = (id: string): boolean => 'abc'.includes(id.charAt(6));
    const list = await listHere(new ListWire(index, { failed: isFailed, total: () => 2500 }));
    const records = join(dirname(list.out), 'listed');
    const { account } = await list.run({ records });
    const ids = (await list.ids()) ?? [];
    const manifest = await readManifest(localDisk, records);
    expect(manifest).toMatchObject({
      kind: 'list',
      counts: { read: 2500, exported: 2500 - account.inErrors, failed: account.inErrors, missing: 0 },
      calls: account.calls,
      credits: account.credits,
      startedAtMs: Date.parse(account.firstCall),
      inputs: [{ name: 'mints.txt', sha256: account.sha256 }],
    });
    expect(await readRecords(records)).toEqual(ids.filter((id) => !isFailed(id)).map(recordOf));
    expect(account.inErrors).toBeGreaterThan(50);
    const unexported = await readFile(join(records, 'unexported/part-00000.csv'), 'utf8');
    expect(unexported.split('\n')[1]).toContain('failed,no content data,mints.txt,');
    expect((await verifyHere(records)).exit).toBe(0);
  });

  it('have the same bytes, whatever the concurrency', async () => {
    const sums: (string | undefined)[] = [];
    for (const concurrency of ['1', '8']) {
      const list = await listHere(new ListWire(new SimulatedIndex({ rows: 20_000, seed: 1 })), {
        flags: { concurrency },
      });
      const records = join(dirname(list.out), 'listed');
      await list.run({ records });
      const { files = [] } = (await readManifest(localDisk, records)) ?? {};
      sums.push(files.map(({ sha256 }) => sha256).join());
    }
    expect(sums[1]).toBe(sums[0]);
  });

  it('go into a new folder: another export is refused before the first call', async () => {
    const wire = new ListWire(new SimulatedIndex({ rows: 30, seed: 1 }));
    const list = await listHere(wire);
    const records = join(dirname(list.out), 'listed');
    await list.run({ records });
    const sent = wire.sent.length;
    await expect(list.run({ records })).rejects.toMatchObject({ exit: 'usage' });
    expect(wire.sent.length).toBe(sent);
    expect(await localDisk.sizeOf(`${list.out}.ids`)).toBeUndefined();
    await list.run({ records, fresh: true });
    expect(wire.sent.length).toBe(2 * sent);
  });
});

describe('a list with records that is killed while it removes its pages', () => {
  /** Removes nothing from the `n`th removal on that follows the account, and lets go of no lock by itself. */
  function dying(account: string, n: number) {
    let removals = 0;
    const locks: Lock[] = [];
    const files = Object.assign(Object.create(localDisk) as typeof localDisk, {
      takeLock: async (folder: string): Promise<Lock> => {
        const lock = await localDisk.takeLock(folder);
        locks.push(lock);
        return lock;
      },
      remove: async (path: string): Promise<void> => {
        if ((await localDisk.sizeOf(account)) !== undefined && (removals += 1) > n) throw new Error('killed');
        return localDisk.remove(path);
      },
    });
    return { files, letGo: () => Promise.all(locks.map((lock) => lock.release())) };
  }

  it('is finished by the same command, which pays nothing, wherever that was', async () => {
    const wire = new ListWire(new SimulatedIndex({ rows: 30, seed: 1 }));
    for (let n = 0; ; n += 1) {
      const list = await listHere(wire);
      const request = { records: join(dirname(list.out), 'listed') };
      const { files, letGo } = dying(`${list.out}.json`, n);
      const first = await list.run(request, { files }).catch(() => undefined);
      await letGo();
      if (first !== undefined) {
        expect(n).toBeGreaterThan(6);
        break;
      }
      const sent = wire.sent.length;
      const again = await list.run(request);
      expect(again).toMatchObject({ error: undefined, path: list.out, account: { members: 30 }, callsOfRun: 0 });
      expect(wire.sent.length).toBe(sent);
      expect(await localDisk.sizeOf(`${list.out}.ids`), `removal ${n}`).toBeUndefined();
      expect((await verifyHere(request.records)).exit).toBe(0);
    }
  });
});

describe('the kept records of a stopped list', () => {
  /** Two of three pages are kept: the budget ends. */
  async function stoppedList() {
    const wire = new ListWire(new SimulatedIndex({ rows: 2500, seed: 1 }), { total: () => 2500 });
    const list = await listHere(wire, { flags: { 'credits-per-run': '30' } });
    const records = join(dirname(list.out), 'listed');
    await expect(list.run({ records })).rejects.toMatchObject({ exit: 'spent' });
    const sent = wire.sent.length;
    const resumed = () => list.run({ records }).catch((error: unknown) => error);
    return { kept: `${list.out}.ids`, records, resumed, sent: () => wire.sent.length - sent };
  }

  it.each([
    ['a flipped bit of a name', (bytes: Buffer) => flipped(bytes, bytes.indexOf('"id"') + 2)],
    ['a flipped bit in the middle', (bytes: Buffer) => flipped(bytes, bytes.length >> 1)],
    ['a flipped bit of the last byte', (bytes: Buffer) => flipped(bytes, bytes.length - 1)],
    ['zeros', (bytes: Buffer) => Buffer.alloc(bytes.length)],
    ['a missing end', (bytes: Buffer) => bytes.subarray(0, -1)],
    // Promise, Nothing misread: A damaged kept record of a stopped list is exit 12 before the next call
  ])('with %s are damaged before the next call', async (_, damage) => {
    const { kept, records, resumed, sent } = await stoppedList();
    const path = join(kept, 'records');
    await writeFile(path, damage(await readFile(path)));
    expect(await resumed()).toMatchObject({ exit: 'damaged', message: expect.stringContaining(path) as string });
    expect(sent()).toBe(0);
    expect(await localDisk.sizeOf(join(records, 'manifest.json'))).toBeUndefined();
  });

  it('whose entries are in another order are damaged', async () => {
    const { kept, resumed, sent } = await stoppedList();
    const path = join(kept, 'pages.log');
    const lines = (await readFile(path, 'utf8')).trimEnd().split('\n');
    await writeFile(path, `${lines.toReversed().join('\n')}\n`);
    expect(await resumed()).toMatchObject({ exit: 'damaged' });
    expect(sent()).toBe(0);
  });
});

function flipped(bytes: Buffer, at: number): Buffer {
  const copy = Buffer.from(bytes);
  copy[at] = (copy[at] ?? 0) ^ 1;
  return copy;
}

function verifyHere(folder: string) {
  return runHere(['verify', folder]);
}

describe('run with the records of a list as its base', () => {
  it('requests nothing, judges no unlisted ids, and makes no changes', async () => {
    const index = new SimulatedIndex({ rows: 600, seed: 1 });
    const list = await listHere(new ListWire(index, { total: () => 600 }));
    const folder = dirname(list.out);
    await list.run({ records: join(folder, 'listed') });
    const ids = (await list.ids()) ?? [];
    // Half of the list.
    await writeFile(join(folder, 'half.txt'), ids.slice(0, 300).join('\n'));
    const job = [
      '--ids',
      'half.txt',
      '--url',
      'http://127.0.0.1:1',
      '--dialect',
      'helius',
      '--out',
      'mine',
      '--format',
      'csv',
    ];
    const base = ['--base', 'listed', '--max-age', 'never', '--tables', 'assets,changes'];
    const run = await runHere(['run', ...job, ...base], { cwd: folder, environment: { ASSET_EXPORT_API_KEY: 'key' } });
    expect(run).toMatchObject({ exit: 0 });
    const manifest = await readManifest(localDisk, join(folder, 'mine'));
    expect(manifest).toMatchObject({
      counts: { read: 300, carried: 300, exported: 0 },
      calls: 0,
      base: { unlisted: 0 },
      tables: { assets: { rows: 300 }, changes: { rows: 0 } },
    });
  });

  it('does not resume into them', async () => {
    const list = await listHere(new ListWire(new SimulatedIndex({ rows: 30, seed: 1 })));
    const folder = dirname(list.out);
    await list.run({ records: join(folder, 'listed') });
    const run = await runHere(
      ['run', '--ids', 'mints.txt', '--url', 'http://127.0.0.1:1', '--out', 'listed', '--format', 'raw'],
      { cwd: folder, environment: { ASSET_EXPORT_API_KEY: 'key' } },
    );
    expect(run.exit).toBe(2);
    expect(run.stderr).toContain('is not the export of this list');
  });
});
