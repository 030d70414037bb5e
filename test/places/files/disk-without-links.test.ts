import fs, { readFileSync, readdirSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ledgerFile } from '../../../src/core/client/ledger/ledger-file.ts';
import { takeLock } from '../../../src/places/files/lock.ts';
import { probeFolder } from '../../../src/places/files/folder-place.ts';
import { thisProcess } from '../../../src/lib/process/lock-owner.ts';
import { runExport } from '../../support/run-export.ts';
import { startGeneratedService } from '../../support/service/generated-service.ts';
import { writeIdFile } from '../../support/id-file.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const { linkSync, symlinkSync } = fs;
const { link, symlink } = fs.promises;

/** Has every attempt at a link of one kind fail, as on a disk that has none. */
function without(kind: 'hard' | 'symbolic', code: string): void {
  const refuse = () => {
    throw Object.assign(new Error(`${code}: operation not permitted`), { code });
  };
  const refuseLater = async () => refuse();
  if (kind === 'hard') Object.assign(fs, { linkSync: refuse });
  else Object.assign(fs, { symlinkSync: refuse });
  Object.assign(fs.promises, kind === 'hard' ? { link: refuseLater } : { symlink: refuseLater });
  syncBuiltinESMExports();
}

let folder: string;

beforeEach(async () => {
  folder = await tempFolder();
});

afterEach(() => {
  Object.assign(fs, { linkSync, symlinkSync });
  Object.assign(fs.promises, { link, symlink });
  syncBuiltinESMExports();
});

describe.each(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'])('on a disk without links (%s)', (code) => {
  it('a probe and a lock name the hard links, and what to do', async () => {
    without('hard', code);
    for (const attempt of [() => probeFolder(folder, 'hard'), () => takeLock(folder)]) {
      await expect(attempt()).rejects.toMatchObject({
        exit: 'cannotWrite',
        message: `the disk of ${folder} has no hard links, which a lock needs`,
        todo: expect.stringContaining('another disk') as string,
      });
    }
    expect(readdirSync(folder).filter((name) => name.includes('check'))).toEqual([]);
  });

  it('a probe and the ledger name the symbolic links, and the folder to choose', async () => {
    without('symbolic', code);
    const named = {
      exit: 'cannotWrite',
      message: `the disk of ${folder} has no symbolic links, which the ledger needs`,
      todo: expect.stringContaining('ASSET_EXPORT_STATE') as string,
    };
    await expect(probeFolder(folder, 'symbolic')).rejects.toMatchObject(named);
    const ledger = ledgerFile(folder, { ledger: 'x', day: '2026-11-20' }, { self: thisProcess('one') });
    await expect(ledger.change(() => ({ result: 1 }))).rejects.toMatchObject(named);
  });
});

it('names the newest export by latest.json where a link cannot be made, and goes on from there', async () => {
  const ids = join(folder, 'ids.txt');
  await writeIdFile(ids, { entries: 20 });
  const service = await startGeneratedService();
  try {
    const run = (name: string) =>
      runExport({ flags: { ids, url: service.url, out: join(folder, name), format: 'csv', latest: true } });
    const named = () => JSON.parse(readFileSync(join(folder, 'latest.json'), 'utf8')) as unknown;
    // The ledger's folder is on another disk.
    const refused = async () => {
      throw Object.assign(new Error('EPERM'), { code: 'EPERM' });
    };
    Object.assign(fs.promises, { symlink: refused });
    syncBuiltinESMExports();
    await run('date=2026-11-21');
    expect(named()).toEqual({ latest: 'date=2026-11-21' });
    await run('date=2026-11-20');
    expect(named()).toEqual({ latest: 'date=2026-11-21' });
    expect(readdirSync(folder).filter((name) => name.startsWith('.latest'))).toEqual([]);
  } finally {
    await service.stop();
  }
});
