import { createHash } from 'node:crypto';
import type { CutSlice } from '../../core/ids/cut-slices.ts';
import { EntryPacker } from '../../core/ids/packed/pack-entries.ts';
import type { ObjectBody, ObjectStore } from '../../places/objects/object-store.ts';
import { sha256OfBody, sizeOfBody } from '../../places/objects/object-store.ts';
import { sliceNames } from '../../places/log/slice-names.ts';
import { pathIn } from '../../places/export/export-folder.ts';
import type { FileStore } from '../../places/files/file-store.ts';
import { inTurns } from '../../places/objects/small-objects.ts';
import type { PackedSlice } from '../../core/run/homes/bucket-start.ts';

/** A slice that was packed and is not in the bucket yet. */
export interface MadeSlice {
  readonly slice: number;
  readonly packed: PackedSlice;
  readonly bodies: readonly NamedBody[];
}

interface NamedBody {
  readonly name: string;
  readonly body: ObjectBody;
}

/** Packs the entries of a slice into a local file. @param folder where it is made */
export async function packSlice(files: FileStore, folder: string, cut: CutSlice): Promise<MadeSlice> {
  const path = pathIn(folder, `${cut.slice}.ids`);
  const hash = createHash('sha256');
  const file = await files.open(path, 'create');
  let bytes = 0;
  let calls = 0;
  const packer = new EntryPacker(async (piece) => {
    hash.update(piece);
    await file.write(piece, bytes);
    bytes += piece.length;
  });
  try {
    for await (const entries of cut.entries()) {
      await packer.add(entries);
      if (entries.validBetween(0, entries.length) > 0) calls += 1;
    }
    await packer.end();
  } finally {
    await file.close();
  }
  const { slice, firstPart } = cut;
  const ids = { file: path, bytes, sha256: hash.digest('hex') };
  const duplicates = { bytes: Buffer.from(packer.duplicates()) };
  return {
    slice,
    packed: { firstPart, ...packer.counts, calls, ids: factsOf(ids), duplicates: factsOf(duplicates) },
    bodies: [
      { name: sliceNames.ids(slice), body: ids },
      { name: sliceNames.duplicates(slice), body: duplicates },
    ],
  };
}

function factsOf(body: ObjectBody): PackedSlice['ids'] {
  return { bytes: sizeOfBody(body), sha256: sha256OfBody(body) };
}

/** Puts what is not there. What an interrupted `enqueue` left of other ids is replaced. */
export async function putSlice(store: ObjectStore, { bodies }: MadeSlice): Promise<void> {
  for (const { name, body } of bodies) {
    const isTaken = (await store.putNew(name, body)) === 'taken';
    if (isTaken && !(await isThere(store, name, factsOf(body)))) await store.put(name, body);
  }
}

async function isThere(store: ObjectStore, name: string, facts: PackedSlice['ids']): Promise<boolean> {
  const found = await store.look(name);
  return found?.bytes === facts.bytes && found.sha256 === facts.sha256;
}

/** The slices that are not in the bucket as they were packed. */
export async function missingSlices(store: ObjectStore, slices: readonly PackedSlice[]): Promise<number[]> {
  const missing: number[] = [];
  await inTurns([...slices.entries()], async ([slice, { ids, duplicates }]) => {
    const isWhole =
      (await isThere(store, sliceNames.ids(slice), ids)) &&
      (await isThere(store, sliceNames.duplicates(slice), duplicates));
    if (!isWhole) missing.push(slice);
  });
  return missing.sort((a, b) => a - b);
}
