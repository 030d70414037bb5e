import { createHash } from 'node:crypto';
import type { Entries } from '../../core/ids/entries.ts';
import { NotPacked, unpackEntries } from '../../core/ids/packed/unpack-entries.ts';
import { ExportError } from '../../lib/export-error.ts';
import { sha256 } from '../../lib/hash/sha256.ts';
import { sliceNames } from '../../places/log/slice-names.ts';
import { exportPaths, pathIn } from '../../places/export/export-folder.ts';
import type { OpenFile } from '../../places/files/open-file.ts';
import { readObject } from '../../places/objects/small-objects.ts';
import type { BucketPlace } from '../../core/run/homes/bucket-place.ts';
import type { PackedSlice } from '../../core/run/homes/bucket-start.ts';

/**
 * The entries of a slice with duplicates marked. They are copied to the slice's scratch folder and checked first: a part is made of what
 * was enqueued or not at all.
 * @throws {ExportError} `damaged`
 */
export async function* sliceEntries(
  place: BucketPlace,
  slice: number,
  { ids, duplicates }: PackedSlice,
): AsyncGenerator<Entries, void, void> {
  const { files, store, address, scratch } = place;
  const repeated = await readObject(store, sliceNames.duplicates(slice));
  if (sha256(repeated) !== duplicates.sha256) throw changed(address, sliceNames.duplicates(slice));
  const path = pathIn(scratch, `${sliceNames.scratch(slice)}/${exportPaths.run}/ids`);
  const file = await files.open(path, 'create');
  try {
    await copyChecked(place, { slice, ids, file });
    yield* unpackEntries((position, length) => file.read(position, length), repeated);
  } catch (error) {
    if (error instanceof NotPacked || error instanceof RangeError) throw changed(address, sliceNames.ids(slice));
    throw error;
  } finally {
    await file.close();
  }
}

interface Copying {
  readonly slice: number;
  readonly ids: PackedSlice['ids'];
  readonly file: OpenFile;
}

async function copyChecked({ store, address }: BucketPlace, { slice, ids, file }: Copying): Promise<void> {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const block of store.read(sliceNames.ids(slice))) {
    hash.update(block);
    await file.write(block, bytes);
    bytes += block.length;
  }
  if (hash.digest('hex') !== ids.sha256) throw changed(address, sliceNames.ids(slice));
}

function changed(address: string, name: string): ExportError {
  return new ExportError('damaged', `${address}/${name} is missing or was changed after it was enqueued`, {
    todo: 'Run asset-export enqueue with the same job and ids again: it puts what is missing or changed.',
  });
}
