import { dirname } from 'node:path';
import type { Disk } from '../../../src/places/files/disk.ts';
import { MemoryDisk } from '../../model/support/memory-disk.ts';

/** Puts a file on a disk, synced. */
export async function putFile(files: Disk, path: string, content: Uint8Array): Promise<void> {
  await files.makeFolder(dirname(path));
  const file = await files.open(path, 'create');
  await file.write(content);
  await file.sync();
  await file.close();
  await files.syncFolder(dirname(path));
}

/** A disk on which a file lies with other bytes than it was written with. */
export async function diskWith(path: string, content: Uint8Array): Promise<MemoryDisk> {
  const disk = new MemoryDisk();
  await putFile(disk.files, path, content);
  return disk;
}

/** The bytes of a file, which must be there. */
export async function bytesAt(files: Disk, path: string): Promise<Buffer> {
  const bytes = await files.readAll(path);
  if (bytes === undefined) throw new Error(`${path} is not there.`);
  return Buffer.from(bytes);
}

/** The same bytes with one bit of one of them turned. */
export function flipped(bytes: Uint8Array, at: number, bit = at % 8): Buffer {
  const copy = Buffer.from(bytes);
  copy[at] = (copy[at] ?? 0) ^ (1 << bit);
  return copy;
}
