import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { pageBytes } from '../../../src/lib/buffer-pool.ts';
import { minDirectBytes } from '../../../src/places/files/disk.ts';
import { exportPaths, pathIn } from '../../../src/places/export/export-folder.ts';
import {
  type JournalPlace,
  readEntries,
  readJournals,
  type Journal,
  type JournalEntry,
  openJournal,
} from '../../../src/places/scratch/journal.ts';
import { MemoryDisk } from '../../model/support/memory-disk.ts';
import { bytesAt, diskWith, flipped } from '../files/memory-files.ts';

const folder = '/out';
const path = pathIn(folder, exportPaths.journal(0));

function entry(n: number, length = 20 + n * 7, part = 0): JournalEntry {
  const key = createHash('sha256').update(String(n)).digest('hex');
  return { key, part, body: Buffer.alloc(length, `answer ${n} `) };
}

const entries = [entry(0), entry(1, 0), entry(2, 1), entry(3), entry(4, 300)];

/** The file that holds these entries, and where each ends. */
async function written(): Promise<{ bytes: Buffer; ends: number[] }> {
  const disk = new MemoryDisk();
  const journal = await openJournal(disk.files, folder);
  const ends: number[] = [];
  for (const each of entries) {
    await journal.append(each);
    ends.push((await bytesAt(disk.files, path)).length);
  }
  await journal.close();
  return { bytes: await bytesAt(disk.files, path), ends };
}

/** Which entries a journal gives back; every one it gives has the body it was kept with. */
async function keptIn(journal: Journal, of: readonly JournalEntry[] = entries): Promise<number[]> {
  const kept: number[] = [];
  for (const [n, { key, part, body }] of of.entries()) {
    const found = await journal.find(key, part);
    if (found === undefined) continue;
    expect(Buffer.from(found).equals(body)).toBe(true);
    kept.push(n);
  }
  return kept;
}

const upTo = (count: number): number[] => Array.from({ length: count }, (_, n) => n);

describe('a journal', () => {
  it('begins large bodies at a page, for direct writes', async () => {
    const disk = new MemoryDisk();
    const large = [
      entry(0),
      entry(1, minDirectBytes),
      entry(2),
      entry(3, minDirectBytes + 5),
      entry(4, minDirectBytes),
    ];
    const first = await openJournal(disk.files, folder);
    for (const each of large) await first.append(each);
    await first.close();
    const file = await disk.files.open(path);
    const places: JournalPlace[] = [];
    for await (const place of readEntries(file)) places.push(place);
    await file.close();
    expect(places.filter(({ length }) => length >= minDirectBytes).map(({ position }) => position % pageBytes)).toEqual(
      [0, 0, 0],
    );
    const second = await openJournal(disk.files, folder);
    expect(await keptIn(second, large)).toEqual(upTo(5));
    await second.close();
  });

  it('gives back every answer by its key, over several parts and after it was opened again', async () => {
    const disk = new MemoryDisk();
    const first = await openJournal(disk.files, folder);
    const spread = entries.map((each, n) => ({ ...each, part: n % 3 }));
    await Promise.all(spread.map((each) => first.append(each)));
    expect(await keptIn(first, spread)).toEqual(upTo(5));
    await first.close();
    expect((await readJournals(disk.files, [folder])).size()).toBe(5);
    const second = await openJournal(disk.files, folder);
    expect(await keptIn(second, spread)).toEqual(upTo(5));
    expect(await second.find(entry(99).key, 0)).toBeUndefined();
    expect(await second.find(entry(0).key, 9)).toBeUndefined();
    await second.close();
    expect(disk.openFiles).toBe(0);
  });

  it('cut anywhere keeps every entry before the cut, and takes new ones behind it', async () => {
    const { bytes, ends } = await written();
    for (let length = 0; length <= bytes.length; length += 1) {
      const disk = await diskWith(path, bytes.subarray(0, length));
      const journal = await openJournal(disk.files, folder);
      expect(await keptIn(journal)).toEqual(upTo(ends.filter((end) => end <= length).length));
      await journal.append(entry(7));
      await journal.close();
      const again = await openJournal(disk.files, folder);
      expect(await again.find(entry(7).key, 0)).toEqual(entry(7).body);
      await again.close();
    }
  });

  // Promise, Nothing lost: A damaged journal gives no wrong answer
  it('with any bit turned gives no wrong answer, and keeps those before the damage', async () => {
    const { bytes, ends } = await written();
    for (let at = 0; at < bytes.length; at += 1) {
      const disk = await diskWith(path, flipped(bytes, at));
      const journal = await openJournal(disk.files, folder);
      const whole = ends.filter((end) => end <= at).length;
      expect(await keptIn(journal)).toEqual(upTo(whole));
      await journal.close();
    }
  });

  it('keeps an empty answer that is its last', async () => {
    const disk = new MemoryDisk();
    const journal = await openJournal(disk.files, folder);
    await journal.append(entry(1, 0));
    await journal.close();
    const again = await openJournal(disk.files, folder);
    expect(await again.find(entry(1).key, 0)).toHaveLength(0);
    await again.close();
  });

  it('that ends in zeros or noise keeps every entry before them', async () => {
    const { bytes } = await written();
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          fc.nat(5000).map((n) => Buffer.alloc(n)),
          fc.uint8Array({ maxLength: 400 }),
        ),
        async (tail) => {
          const disk = await diskWith(path, Buffer.concat([bytes, tail]));
          const journal = await openJournal(disk.files, folder);
          expect(await keptIn(journal)).toEqual(upTo(5));
          await journal.close();
        },
      ),
      { seed: 5, numRuns: 200 },
    );
  });

  it('seals a part: its answers survive a loss of power, its file is closed, and what comes later is dropped', async () => {
    const disk = new MemoryDisk();
    const journal = await openJournal(disk.files, folder);
    const spread = entries.map((each, n) => ({ ...each, part: n }));
    for (const each of spread) await journal.append(each);
    expect(disk.openFiles).toBe(5);
    await journal.closePart(2);
    expect(disk.openFiles).toBe(4);
    for (const part of [1, 2]) await journal.append({ ...entry(5 + part), part });
    disk.restartAfterPowerLoss(() => false);
    const again = await openJournal(disk.files, folder);
    expect(await keptIn(again, spread)).toContain(2);
    for (const part of [1, 2]) expect(await again.find(entry(5 + part).key, part)).toBeUndefined();
  });

  it('survives a loss of power with all that was synced, the name of its file included', async () => {
    const disk = new MemoryDisk();
    const journal = await openJournal(disk.files, folder);
    for (const each of entries) await journal.append(each);
    await journal.closePart(0);
    disk.restartAfterPowerLoss(() => false);
    expect(await keptIn(await openJournal(disk.files, folder))).toEqual(upTo(5));
  });

  it('writes behind an answer that could not be written', async () => {
    const disk = new MemoryDisk();
    const journal = await openJournal(disk.files, folder);
    await journal.append(entry(0));
    let writes = 0;
    disk.weather = ({ kind }) =>
      kind === 'write' && (writes += 1) === 1
        ? { kind: 'fails', code: 'ENOSPC', writtenShare: 0.5 }
        : { kind: 'happens' };
    const [full, kept] = await Promise.allSettled([journal.append(entry(3)), journal.append(entry(4, 300))]);
    expect(full).toMatchObject({ status: 'rejected', reason: { exit: 'cannotWrite' } });
    expect(kept.status).toBe('fulfilled');
    await journal.close();
    const again = await openJournal(disk.files, folder);
    expect(await keptIn(again)).toEqual([0, 4]);
    await again.close();
  });

  it('tries no sync a second time', async () => {
    const disk = new MemoryDisk();
    const journal = await openJournal(disk.files, folder);
    let syncs = 0;
    disk.weather = ({ kind }) =>
      kind === 'sync' && (syncs += 1) === 1 ? { kind: 'fails', code: 'EIO' } : { kind: 'happens' };
    await journal.append(entry(0));
    await expect(journal.closePart(0)).rejects.toMatchObject({ exit: 'cannotWrite' });
    await expect(journal.closePart(0)).rejects.toMatchObject({ exit: 'cannotWrite' });
    expect(syncs).toBe(1);
    await journal.close();
  });

  it('damaged in the file of one part keeps the answers of the others', async () => {
    const disk = new MemoryDisk();
    const journal = await openJournal(disk.files, folder);
    const spread = entries.map((each, n) => ({ ...each, part: n % 2 }));
    for (const each of spread) await journal.append(each);
    await journal.close();
    const bytes = await bytesAt(disk.files, path);
    await (await disk.files.open(path, 'update')).write(flipped(bytes, 50));
    const again = await openJournal(disk.files, folder);
    expect(await keptIn(again, spread)).toEqual([1, 3]);
    await again.close();
  });
});
