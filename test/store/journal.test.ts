import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fewestDirectBytes } from '../../src/store/direct-writes.ts';
import { exportPaths, pathIn } from '../../src/store/export-folder.ts';
import { type Journal, openJournal } from '../../src/store/journal.ts';
import { type JournalEntry, OwnJournals } from '../../src/store/own-journals.ts';
import { MemoryDisk } from '../model/memory-disk.ts';
import { bytesAt, diskWith, flipped } from './memory-files.ts';

const folder = '/out';
const path = pathIn(folder, exportPaths.journal({ part: 0, thread: 0 }));

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
  for (const [n, { key, body }] of of.entries()) {
    const found = await journal.find(key);
    if (found === undefined) continue;
    expect(Buffer.from(found).equals(body)).toBe(true);
    kept.push(n);
  }
  return kept;
}

const upTo = (count: number): number[] => Array.from({ length: count }, (_, n) => n);

describe('a journal', () => {
  it('gives back every answer by its key, over several parts and after it was opened again', async () => {
    const disk = new MemoryDisk();
    const first = await openJournal(disk.files, folder);
    await Promise.all(entries.map((each, n) => first.append({ ...each, part: n % 3 })));
    expect(await keptIn(first)).toEqual(upTo(5));
    await first.close();
    const second = await openJournal(disk.files, folder);
    expect(await keptIn(second)).toEqual(upTo(5));
    expect(second.size()).toBe(5);
    expect(await second.find(entry(99).key)).toBeUndefined();
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
      expect(await again.find(entry(7).key)).toEqual(entry(7).body);
      await again.close();
    }
  });

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

  describe('of large answers', () => {
    const large = [entry(0), entry(1, fewestDirectBytes), entry(2), entry(3, fewestDirectBytes + 5), entry(4)];

    /** The file, and where each body lies in it. */
    async function writtenLarge(): Promise<{ bytes: Buffer; starts: number[] }> {
      const disk = new MemoryDisk();
      const journal = await openJournal(disk.files, folder);
      for (const each of large) await journal.append(each);
      await journal.close();
      const bytes = await bytesAt(disk.files, path);
      return { bytes, starts: large.map(({ body }) => bytes.indexOf(body)) };
    }

    it('has them begin at pages, and small ones behind their heads', async () => {
      const { starts } = await writtenLarge();
      expect(starts[0]).toBe(40);
      expect([starts[1], starts[3]].map((start = -1) => start % 4096)).toEqual([0, 0]);
      expect(starts[2]).toBe((starts[1] ?? 0) + fewestDirectBytes + 40);
    });

    it('loses what is behind a cut or a turned bit, and nothing for one in the gap before a page', async () => {
      const { bytes, starts } = await writtenLarge();
      const [, second = 0, third = 0, fourth = 0, fifth = 0] = starts;
      const kept = async (content: Buffer): Promise<number[]> => {
        const journal = await openJournal((await diskWith(path, content)).files, folder);
        const found = await keptIn(journal, large);
        await journal.close();
        return found;
      };
      for (const at of [second, second + 70_000, third - 41]) expect(await kept(flipped(bytes, at))).toEqual([0]);
      for (const at of [second - 1, second - 1000]) expect(await kept(flipped(bytes, at))).toEqual(upTo(5));
      for (const at of [fourth, fifth - 41]) expect(await kept(flipped(bytes, at))).toEqual([0, 1, 2]);
      for (const end of [second - 1, second, third - 41]) expect(await kept(bytes.subarray(0, end))).toEqual([0]);
      for (const end of [third - 40, fourth - 1, fifth - 41]) {
        const wholeThird = end >= third + (large[2]?.body.length ?? 0);
        expect(await kept(bytes.subarray(0, end))).toEqual(wholeThird ? [0, 1, 2] : [0, 1]);
      }
    });

    it('as an earlier version wrote them, right behind their heads, are read, and more are appended', async () => {
      const { bytes, starts } = await writtenLarge();
      const [, second = 0, third = 0, fourth = 0] = starts;
      const headAt = (start: number, before: number): Buffer => bytes.subarray(before, Math.min(before + 40, start));
      const secondHead = (starts[0] ?? 0) + (large[0]?.body.length ?? 0);
      const fourthHead = third + (large[2]?.body.length ?? 0);
      const earlier = Buffer.concat([
        bytes.subarray(0, secondHead),
        headAt(second, secondHead),
        bytes.subarray(second, fourthHead),
        headAt(fourth, fourthHead),
        bytes.subarray(fourth, fourth + fewestDirectBytes + 5),
      ]);
      const disk = await diskWith(path, earlier);
      const journal = await openJournal(disk.files, folder);
      expect(await keptIn(journal, large)).toEqual([0, 1, 2, 3]);
      for (const one of [large[4], entry(7, fewestDirectBytes + 1)]) if (one !== undefined) await journal.append(one);
      await journal.close();
      const again = await openJournal(disk.files, folder);
      expect(await keptIn(again, large)).toEqual(upTo(5));
      expect(await again.find(entry(7).key)).toEqual(entry(7, fewestDirectBytes + 1).body);
      await again.close();
    });
  });

  it('keeps an empty answer that is its last', async () => {
    const disk = new MemoryDisk();
    const journal = await openJournal(disk.files, folder);
    await journal.append(entry(1, 0));
    await journal.close();
    const again = await openJournal(disk.files, folder);
    expect(await again.find(entry(1).key)).toHaveLength(0);
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

  it('drops the answers of committed parts, with their files, and no others', async () => {
    const disk = new MemoryDisk();
    const journal = await openJournal(disk.files, folder);
    for (const [n, each] of entries.entries()) await journal.append({ ...each, part: n });
    await journal.dropThrough(2);
    expect(await keptIn(journal)).toEqual([3, 4]);
    expect(await disk.files.list(pathIn(folder, exportPaths.journals))).toEqual([
      'part-00003.journal',
      'part-00004.journal',
    ]);
    await journal.close();
    expect(disk.openFiles).toBe(0);
  });

  it('survives a loss of power with all that was synced, the name of its file included', async () => {
    const disk = new MemoryDisk();
    const journal = await openJournal(disk.files, folder);
    for (const each of entries) await journal.append(each);
    await journal.sync();
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
    await expect(journal.sync()).rejects.toMatchObject({ exit: 'cannotWrite' });
    await expect(journal.sync()).rejects.toMatchObject({ exit: 'cannotWrite' });
    expect(syncs).toBe(1);
    await journal.close();
  });

  describe('with threads', () => {
    const names = (disk: MemoryDisk): Promise<string[]> => disk.files.list(pathIn(folder, exportPaths.journals));
    const [zeroth, first, second, third, fourth] = entries as [
      JournalEntry,
      JournalEntry,
      JournalEntry,
      JournalEntry,
      JournalEntry,
    ];

    it('takes up what the threads of earlier runs left, and gives no thread the number of another', async () => {
      const disk = new MemoryDisk();
      for (const [run, one] of [third, zeroth, first].entries()) {
        const journal = await openJournal(disk.files, folder);
        const thread = new OwnJournals(disk.files, folder, journal.nextThread());
        await thread.append({ ...one, part: run });
        await thread.append({ ...fourth, key: `${run}`.repeat(64), part: 0 });
        await journal.append({ ...second, part: 1 });
      }
      expect(await names(disk)).toEqual([
        ...['part-00000.1.journal', 'part-00000.2.journal', 'part-00000.3.journal'],
        ...['part-00001.2.journal', 'part-00001.journal', 'part-00002.3.journal'],
      ]);
      const last = await openJournal(disk.files, folder);
      expect(await keptIn(last)).toEqual([0, 1, 2, 3]);
      expect(await last.find('1'.repeat(64))).toEqual(fourth.body);
      expect(last.nextThread()).toBe(4);
      await last.close();
    });

    it('drops the files of committed parts, whoever appended to them', async () => {
      const disk = new MemoryDisk();
      const before = await openJournal(disk.files, folder);
      const earlier = new OwnJournals(disk.files, folder, before.nextThread());
      for (const [part, one] of [zeroth, first].entries()) await earlier.append({ ...one, part });
      await earlier.closeThrough(1);
      await before.close();
      const journal = await openJournal(disk.files, folder);
      const thread = new OwnJournals(disk.files, folder, journal.nextThread());
      for (const [part, one] of [second, third].entries()) await thread.append({ ...one, part });
      await thread.closeThrough(0);
      await journal.dropThrough(0);
      expect(await names(disk)).toEqual(['part-00001.1.journal', 'part-00001.2.journal']);
      expect(await keptIn(journal)).toEqual([1]);
      await thread.closeThrough(1);
      await journal.close();
      expect(disk.openFiles).toBe(0);
    });

    it('damaged in the file of one thread keeps the answers of the others', async () => {
      const disk = new MemoryDisk();
      const journal = await openJournal(disk.files, folder);
      for (const one of [zeroth, first]) {
        await new OwnJournals(disk.files, folder, journal.nextThread()).append({ ...one, part: 0 });
      }
      await journal.close();
      const damaged = pathIn(folder, exportPaths.journal({ part: 0, thread: 1 }));
      const bytes = await bytesAt(disk.files, damaged);
      await (await disk.files.open(damaged, 'update')).write(flipped(bytes, 50));
      const again = await openJournal(disk.files, folder);
      expect(await keptIn(again)).toEqual([1]);
      await again.close();
    });
  });
});
