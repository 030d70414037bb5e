import { describe, expect, it } from 'vitest';
import { exportPaths } from '../../../../src/places/export/export-folder.ts';
import { SmallExport, writeSmallIds } from '../../../model/support/small-export.ts';
import { MemoryDisk } from '../../../model/support/memory-disk.ts';
import { tempFolder } from '../../../support/temp-folder.ts';
import { sampled } from '../../../model/support/sample.ts';

const out = '/exports/small';

/** An export of which some parts are committed, and the file of its log that has the last. */
async function stopped(disk = new MemoryDisk()) {
  const idsPath = writeSmallIds(await tempFolder());
  const small = new SmallExport(idsPath, disk);
  disk.weather = ({ kind, path }) =>
    kind === 'link' && path.endsWith('/000003.json') ? { kind: 'dies' } : { kind: 'happens' };
  await small.run();
  disk.restart();
  const change = (path: string, bytes: Uint8Array): SmallExport => {
    const copy = new SmallExport(idsPath, disk.copy());
    const inode = copy.disk.tree.fileAt(`${out}/${path}`);
    inode?.truncate(0);
    inode?.write(0, bytes);
    return copy;
  };
  const bytesOf = (path: string): Buffer => Buffer.from(disk.tree.fileAt(`${out}/${path}`)?.content() ?? []);
  return { idsPath, small, disk, change, bytesOf };
}

const lastEntry = '.run/log/00000/000002.json';

describe('an unfinished export in a folder', () => {
  // Promise, Nothing lost: A flipped bit in an unfinished export's start or log is exit 12 (sampled)
  it.each([exportPaths.start, lastEntry])('with any bit of %s turned is damaged', async (path) => {
    const { bytesOf, change } = await stopped();
    const bytes = bytesOf(path);
    expect(bytes.length).toBeGreaterThan(100);
    for (const at of sampled([...bytes.keys()].filter((byte) => byte % 3 === 0))) {
      const turned = Buffer.from(bytes);
      turned[at] = (turned[at] ?? 0) ^ (1 << (at % 8));
      await expect(change(path, turned).run(), `byte ${at}`).rejects.toMatchObject({
        exit: 'damaged',
        todo: expect.stringContaining('--fresh') as string,
      });
    }
  });

  it.each([exportPaths.start, lastEntry])('with %s cut is damaged', async (path) => {
    const { bytesOf, change } = await stopped();
    const cut = bytesOf(path).subarray(0, -1);
    await expect(change(path, cut).run()).rejects.toMatchObject({ exit: 'damaged' });
  });

  // Promise, Nothing lost: A folder needs no hard links, and takes no commit without the lock
  it('is finished on a disk without hard links', async () => {
    const { small, disk } = await stopped();
    const links: string[] = [];
    disk.files.link = (_from, to) => {
      links.push(to);
      return Promise.resolve('refused');
    };
    expect(await small.run()).toMatchObject({ state: 'complete' });
    expect(links).toContain(`${out}/.run/log/00000/000004.json`);
  });

  it('is not committed to by a process that lost its lock unnoticed', async () => {
    const { small, disk } = await stopped();
    let isFollowed = false;
    disk.onNamed = (path) => {
      if (isFollowed || !path.includes('/csv/')) return;
      isFollowed = true;
      // Another process claims the slice between the files of a part and its commit.
      const claim = disk.tree.fileAt(`${out}/.run/log/00000/000000.json`);
      if (claim !== undefined) disk.tree.link(`${out}/.run/log/00000/000004.json`, claim);
    };
    const outcome = await small.run();
    expect(isFollowed).toBe(true);
    expect(outcome).toMatchObject({ state: 'unfinished', error: { exit: 'locked' } });
  });
});
