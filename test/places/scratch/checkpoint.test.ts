import { crc32 } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { ExportError } from '../../../src/lib/export-error.ts';
import { type ExportStart, openCheckpoint, readCheckpoint } from '../../../src/places/scratch/checkpoint.ts';
import { type Commit, noCounts, noNotes } from '../../../src/places/export/export-facts.ts';
import { exportPaths, pathIn } from '../../../src/places/export/export-folder.ts';
import { MemoryDisk } from '../../model/support/memory-disk.ts';
import { bytesAt, diskWith, flipped } from '../files/memory-files.ts';

const folder = '/out';
const path = pathIn(folder, exportPaths.checkpoint);
const start: ExportStart = {
  job: { 'output.rowsPerPart': 10 },
  inputs: [{ name: 'ids.txt', bytes: 450, sha256: 'ab' }],
  startedAtMs: 1_700_000_000_000,
};

function commit(part: number): Commit {
  const file = { path: `csv/assets/part-0000${part}.csv`, format: 'csv', table: 'assets', part, rows: 9, bytes: 99 };
  const counts = { ...noCounts, read: 10, exported: 9, missing: 1 };
  return { part, counts, files: [{ ...file, sha256: 'cd' }], drift: [], notes: noNotes, inputBytes: 45 * (part + 1) };
}

/** The file after three commits, and where each line ends. */
async function written(): Promise<{ bytes: Buffer; ends: number[] }> {
  const disk = new MemoryDisk();
  await disk.files.makeFolder(pathIn(folder, exportPaths.run));
  const checkpoint = await openCheckpoint(disk.files, folder, start);
  const ends = [(await bytesAt(disk.files, path)).length];
  for (const part of [0, 1, 2]) {
    await checkpoint.append(commit(part));
    ends.push((await bytesAt(disk.files, path)).length);
  }
  await checkpoint.close();
  return { bytes: await bytesAt(disk.files, path), ends };
}

function line(value: object): string {
  const text = JSON.stringify(value);
  return `${crc32(text).toString(16).padStart(8, '0')} ${text}\n`;
}

async function errorOf(content: Uint8Array): Promise<ExportError> {
  const { files } = await diskWith(path, content);
  const error = await readCheckpoint(files, folder).catch((reason: unknown) => reason);
  if (!(error instanceof ExportError)) throw new Error('It was read.');
  return error;
}

describe('a checkpoint', () => {
  it('holds what the export began with, and its commits in order', async () => {
    const { bytes } = await written();
    const { files } = await diskWith(path, bytes);
    expect(await readCheckpoint(files, folder)).toEqual({
      start: { version: 3, ...start },
      commits: [commit(0), commit(1), commit(2)],
      bytes: bytes.length,
    });
    expect(await readCheckpoint(new MemoryDisk().files, folder)).toBeUndefined();
  });

  it('cut anywhere holds every commit before the cut, and goes on behind them', async () => {
    const { bytes, ends } = await written();
    for (let length = 0; length <= bytes.length; length += 1) {
      const disk = await diskWith(path, bytes.subarray(0, length));
      const whole = ends.filter((end) => end <= length).length;
      const checkpoint = await openCheckpoint(disk.files, folder, start);
      expect(checkpoint.commits).toHaveLength(Math.max(0, whole - 1));
      await checkpoint.append(commit(checkpoint.commits.length));
      await checkpoint.close();
      const again = await readCheckpoint(disk.files, folder);
      expect(again?.commits).toEqual([0, 1, 2, 3].slice(0, Math.max(1, whole)).map(commit));
    }
  });

  it('with any bit turned is damaged, or holds less by its last line, never anything else', async () => {
    const { bytes, ends } = await written();
    for (let at = 0; at < bytes.length; at += 1) {
      const { files } = await diskWith(path, flipped(bytes, at));
      const found = await readCheckpoint(files, folder).catch((reason: unknown) => reason);
      // The last line feed is the mark of a whole line: without it the line was never acknowledged.
      if (at === bytes.length - 1) expect(found).toMatchObject({ commits: [commit(0), commit(1)] });
      else {
        const number = ends.filter((end) => end <= at).length + 1;
        expect(found).toMatchObject({ exit: 'damaged' });
        expect((found as ExportError).message).toMatch(new RegExp(`^${path}:${number}: `));
      }
    }
  });

  it('holds less by a last line that a loss of power left as zeros', async () => {
    const { bytes, ends } = await written();
    const torn = Buffer.from(bytes);
    torn.fill(0, ends[2], bytes.length - 5);
    const { files } = await diskWith(path, torn);
    expect((await readCheckpoint(files, folder))?.commits).toHaveLength(2);
  });

  it('of another version, or with commits out of order, is refused with what to do', async () => {
    const newer = await errorOf(Buffer.from(line({ version: 4, ...start })));
    const older = await errorOf(Buffer.from(line({ version: 1, ...start })));
    expect(older.message).toContain('older version');
    expect(newer).toMatchObject({ exit: 'damaged', todo: expect.stringContaining('Update') as string });
    expect(newer.message).toContain('newer version');
    const begin = line({ version: 3, ...start });
    expect((await errorOf(Buffer.from(begin + line(commit(1))))).message).toContain('not the commit of the next part');
    expect((await errorOf(Buffer.from(line({ version: 3 })))).message).toContain('not the start of an export');
  });

  it('brings what an earlier run failed to sync to the disk before it goes on', async () => {
    const disk = new MemoryDisk();
    await disk.files.makeFolder(pathIn(folder, exportPaths.run));
    const first = await openCheckpoint(disk.files, folder, start);
    disk.weather = ({ kind }) => (kind === 'sync' ? { kind: 'fails', code: 'EIO' } : { kind: 'happens' });
    await expect(first.append(commit(0))).rejects.toMatchObject({ exit: 'cannotWrite' });
    disk.restart();
    const second = await openCheckpoint(disk.files, folder, start);
    expect(second.commits).toHaveLength(1);
    await second.append(commit(1));
    disk.restartAfterPowerLoss(() => false);
    expect((await readCheckpoint(disk.files, folder))?.commits).toEqual([commit(0), commit(1)]);
  });
});
