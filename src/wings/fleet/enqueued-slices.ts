import type { CutSlice } from '../../core/ids/batch-ids.ts';
import type { EnqueuedSlice } from '../../core/run/homes/home-start.ts';
import { IdRows } from '../../core/work/id-rows.ts';
import { openTableFile } from '../../core/work/part-build.ts';
import { idsTable } from '../../core/records/beside-tables.ts';
import type { FileStore } from '../../places/files/file-store.ts';
import { sliceNames } from '../../places/log/slice-log.ts';
import { type ObjectStore, inTurns } from '../../places/objects/object-store.ts';
import { unfinishedFile } from '../../places/scratch/part-file.ts';

/** A slice that was written on this disk and is not in the bucket yet. */
export interface MadeSlice {
  readonly slice: number;
  readonly facts: EnqueuedSlice;
  readonly file: string;
}

/** Writes the entries of a slice into a local file: the table `ids`, as each part of an export keeps its own. */
export class SliceWriter {
  readonly #files: FileStore;
  readonly #folder: string;
  readonly #rows: IdRows;

  /** @param folder where files are made @param sources names of the inputs */
  constructor(files: FileStore, folder: string, sources: readonly string[]) {
    this.#files = files;
    this.#folder = folder;
    this.#rows = new IdRows(sources);
  }

  async write({ slice, firstPart, entries }: CutSlice): Promise<MadeSlice> {
    const { file, encoder } = await openTableFile(
      {
        files: this.#files,
        folder: this.#folder,
        compression: {},
        escapeFormulas: false,
        csvDialect: 'rfc4180',
      },
      { format: 'ids', table: idsTable, part: slice },
    );
    const counts = { entries: 0, valid: 0, invalid: 0, duplicate: 0, calls: 0 };
    try {
      for await (const block of entries()) {
        if (block.length > 0) await encoder.write(this.#rows.of(block));
        counts.entries += block.length;
        const valid = block.validBetween(0, block.length);
        if (valid > 0) counts.calls += 1;
        for (let index = 0; index < block.length; index += 1) counts[block.state(index)] += 1;
      }
      await encoder.end();
      const { path, bytes, sha256 } = await file.finish();
      const facts = { firstPart, ...counts, ids: { bytes, sha256 } };
      return { slice, facts, file: unfinishedFile(this.#folder, path) };
    } catch (error) {
      await file.discard();
      throw error;
    }
  }
}

/** Puts what is not there. What an interrupted `enqueue` left of other ids is replaced. */
export async function putSlice(store: ObjectStore, { slice, facts: { ids }, file }: MadeSlice): Promise<void> {
  const name = sliceNames.ids(slice);
  const body = { file, ...ids };
  const isTaken = (await store.putNew(name, body)) === 'taken';
  if (isTaken && !(await isThere(store, name, ids))) await store.put(name, body);
}

async function isThere(store: ObjectStore, name: string, facts: EnqueuedSlice['ids']): Promise<boolean> {
  const found = await store.look(name);
  return found?.bytes === facts.bytes && found.sha256 === facts.sha256;
}

/** The slices that are not in the bucket as they were written. */
export async function missingSlices(store: ObjectStore, slices: readonly EnqueuedSlice[]): Promise<number[]> {
  const missing: number[] = [];
  await inTurns([...slices.entries()], async ([slice, { ids }]) => {
    if (!(await isThere(store, sliceNames.ids(slice), ids))) missing.push(slice);
  });
  return missing.sort((a, b) => a - b);
}
