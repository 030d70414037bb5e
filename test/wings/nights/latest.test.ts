import { lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { loadJob } from '../../../src/core/job/load-job.ts';
import { type ObjectStore, storeWithin } from '../../../src/places/objects/object-store.ts';
import { latestInFolder, pointLatest } from '../../../src/wings/nights/point-latest.ts';
import { failingAt } from '../../model/support/failing-weather.ts';
import { Killed, MemoryDisk, type Operation } from '../../model/support/memory-disk.ts';
import { startGeneratedService } from '../../support/service/generated-service.ts';
import { writeIdFile } from '../../support/id-file.ts';
import { MemoryObjects } from '../../support/memory-objects.ts';
import { runExport } from '../../support/run-export.ts';
import { tempFolder } from '../../support/temp-folder.ts';

async function nights() {
  const folder = await tempFolder();
  const ids = join(folder, 'ids.txt');
  await writeIdFile(ids, { entries: 20 });
  const service = await startGeneratedService();
  onTestFinished(() => service.stop());
  const run = (name: string, flags: Readonly<Record<string, unknown>> = {}) =>
    runExport({ flags: { ids, url: service.url, out: join(folder, name), format: 'csv', latest: true, ...flags } });
  return { folder, run, service, link: join(folder, 'latest') };
}

describe('output.latest', () => {
  it('names the newest complete export in a file, and leads to it by a relative link', async () => {
    const { run, link, folder } = await nights();
    await run('date=2026-11-20');
    expect(readlinkSync(link)).toBe('date=2026-11-20');
    await run('date=2026-11-21');
    expect(readlinkSync(link)).toBe('date=2026-11-21');
    expect(JSON.parse(readFileSync(`${link}.json`, 'utf8'))).toEqual({ latest: 'date=2026-11-21' });
    expect(readdirSync(folder).sort()).toEqual([
      'date=2026-11-20',
      'date=2026-11-21',
      'ids.txt',
      'latest',
      'latest.json',
    ]);
  });

  it('never goes back to an older night, and is made again when it is gone', async () => {
    const { run, link } = await nights();
    await run('date=2026-11-21');
    await run('date=2026-11-20');
    await run('date=2026-11-20');
    expect(readlinkSync(link)).toBe('date=2026-11-21');
  });

  it('is not moved by an export that is not complete', async () => {
    const { run, link } = await nights();
    await run('date=2026-11-20');
    const outcome = await run('date=2026-11-21', { 'ids-per-call': '5', 'credits-per-run': '160' });
    expect(outcome.state).toBe('unfinished');
    expect(readlinkSync(link)).toBe('date=2026-11-20');
  });

  it('refuses to replace a file or a folder, before anything is sent', async () => {
    const { run, link, service } = await nights();
    mkdirSync(link);
    await expect(run('date=2026-11-20')).rejects.toMatchObject({ exit: 'usage' });
    expect(service.counts().calls).toBe(0);
    expect(lstatSync(link).isDirectory()).toBe(true);
    writeFileSync(join(link, 'mine'), 'mine');
    await expect(run('date=2026-11-20')).rejects.toThrow('refusing to replace it');
  });

  it.each(['/out/latest', '/out/{date}/assets', 's3://bucket', 'az://account/container'])(
    'is a mistake for %s',
    (out) => {
      const flags = { ids: '/ids.txt', url: 'https://service.example', out, latest: true };
      expect(() => loadJob({ flags, environment: {}, folder: '/' })).toThrow('--latest');
    },
  );
});

const dated = (day: string, top = '/out') =>
  loadJob({
    flags: { ids: '/ids.txt', url: 'https://service.example', out: `${top}/date=${day}`, latest: true },
    environment: {},
    folder: '/',
  }).job;

/** What the machine does while the link moves on by a night, from a disk on which it leads to the one before. */
async function moved(weather?: (operations: Operation[]) => MemoryDisk['weather']) {
  const disk = new MemoryDisk();
  const context = {
    files: disk.files,
    clock: {
      now: () => Date.UTC(2026, 10, 22),
      monotonic: () => Date.UTC(2026, 10, 22),
      sleep: () => Promise.resolve(),
    },
    random: () => 0,
  };
  await disk.files.makeFolder('/out');
  await pointLatest(dated('2026-11-20'), context);
  const operations: Operation[] = [];
  disk.weather =
    weather?.(operations) ??
    ((operation) => {
      operations.push(operation);
      return { kind: 'happens' };
    });
  const point = () =>
    pointLatest(dated('2026-11-21'), context).catch((error: unknown) => {
      if (!(error instanceof Killed)) throw error;
    });
  await point();
  return { disk, operations, point };
}

// Promise, Nothing misread: `latest` always leads to a complete export, and replaces no file or folder
it('a kill or a loss of power at any operation leaves the link whole, and the same command moves it', async () => {
  const { operations } = await moved();
  expect(operations.map(({ kind }) => kind)).toContain('rename');
  for (const keep of [undefined, () => false, () => true]) {
    for (const n of operations.keys()) {
      const { disk, point } = await moved(() => failingAt(n, () => ({ kind: 'dies' })));
      if (keep === undefined) disk.restart();
      else disk.restartAfterPowerLoss(keep);
      expect(['date=2026-11-20', 'date=2026-11-21']).toContain(await disk.files.readLink('/out/latest'));
      await point();
      disk.restartAfterPowerLoss(() => false);
      expect(await disk.files.readLink('/out/latest')).toBe('date=2026-11-21');
      expect(await latestInFolder(disk.files, '/out')).toBe('date=2026-11-21');
      expect(await disk.files.list('/out')).toEqual(['latest', 'latest.json']);
    }
  }
});

it('where a kill came between the file and the link, the file decides, and the next command moves the link', async () => {
  const { disk, point } = await moved();
  await disk.files.remove('/out/latest');
  await disk.files.makeLink('/out/latest', 'date=2026-11-20');
  expect(await latestInFolder(disk.files, '/out')).toBe('date=2026-11-21');
  await point();
  expect(await disk.files.readLink('/out/latest')).toBe('date=2026-11-21');
});

it('a link without the file counts, and gets it', async () => {
  const { disk, point } = await moved();
  await disk.files.remove('/out/latest.json');
  await disk.files.remove('/out/latest');
  await disk.files.makeLink('/out/latest', 'date=2026-11-22');
  await point();
  expect(await latestInFolder(disk.files, '/out')).toBe('date=2026-11-22');
  expect(await disk.files.list('/out')).toEqual(['latest', 'latest.json']);
});

describe('in a bucket', () => {
  async function bucket() {
    const objects = new MemoryObjects();
    const context = {
      files: new MemoryDisk().files,
      clock: {
        now: () => Date.UTC(2026, 10, 22),
        monotonic: () => Date.UTC(2026, 10, 22),
        sleep: () => Promise.resolve(),
      },
      random: () => 0,
      openStore: async ({ address }: { readonly address: string }): Promise<ObjectStore> =>
        storeWithin(objects.open(), address.replace('s3://bucket/', '')),
    };
    const point = (day: string) => pointLatest(dated(day, 's3://bucket/nightly'), context);
    return {
      objects,
      point,
      text: () => Buffer.from(objects.objects.get('nightly/latest.json')?.bytes ?? []).toString(),
    };
  }

  it('the object latest.json names the newest complete export', async () => {
    const { point, text } = await bucket();
    await point('2026-11-20');
    await point('2026-11-22');
    await point('2026-11-21');
    expect(JSON.parse(text())).toEqual({ latest: 'date=2026-11-22' });
  });

  it('an object of somebody else is left alone', async () => {
    const { objects, point, text } = await bucket();
    await objects.open().put('nightly/latest.json', { bytes: Buffer.from('mine') });
    await expect(point('2026-11-20')).rejects.toMatchObject({ exit: 'usage' });
    expect(text()).toBe('mine');
  });
});
