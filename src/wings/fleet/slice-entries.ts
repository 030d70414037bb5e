import { createHash } from 'node:crypto';
import { Entries } from '../../core/ids/entries.ts';
import { storedEntries } from '../../core/ids/stored-entries.ts';
import { idsTable } from '../../core/records/beside-tables.ts';
import type { RowBlock } from '../../core/records/row-block.ts';
import type { HomePlace } from '../../core/run/homes/home-place.ts';
import type { EnqueuedSlice } from '../../core/run/homes/home-start.ts';
import { csvBlocks } from '../../exports/csv-blocks.ts';
import { ExportError } from '../../lib/export-error.ts';
import { exportPaths, pathIn } from '../../places/export/export-folder.ts';
import { sliceNames } from '../../places/log/slice-log.ts';
import { PackedBlocks } from '../../places/scratch/packed-blocks.ts';

const names = idsTable.columns.map(({ name }) => name);
const layout = { columns: idsTable.columns, names, written: names, csvNullText: '' };

/**
 * The entries of a slice with duplicates marked. They are copied to the slice's scratch folder and checked first: a part is made of what
 * was enqueued or not at all.
 * @param sources names of the inputs, by `IdEntry.source`
 * @throws {ExportError} `damaged`
 */
export async function* sliceEntries(
  place: HomePlace,
  slice: number,
  { ids }: EnqueuedSlice,
  sources: readonly string[],
): AsyncGenerator<Entries, void, void> {
  const { files, store, address, scratch } = place;
  const path = pathIn(scratch, `${sliceNames.scratch(slice)}/${exportPaths.run}/ids`);
  const file = await files.open(path, 'create');
  try {
    const hash = createHash('sha256');
    let bytes = 0;
    for await (const block of store.read(sliceNames.ids(slice))) {
      hash.update(block);
      await file.write(block, bytes);
      bytes += block.length;
    }
    if (hash.digest('hex') !== ids.sha256) throw changed(address, sliceNames.ids(slice));
    const sourceOf = new Map(sources.map((name, index) => [name, index]));
    for await (const rows of csvBlocks(new PackedBlocks(file).all(), layout)) yield entriesOf(rows, sourceOf);
  } finally {
    await file.close();
  }
}

function entriesOf(rows: RowBlock, sourceOf: ReadonlyMap<string, number>): Entries {
  const entries = Entries.take(rows.rows);
  for (const { input, ...entry } of storedEntries(rows)) entries.add({ ...entry, source: sourceOf.get(input) ?? 0 });
  return entries;
}

function changed(address: string, name: string): ExportError {
  return new ExportError('damaged', `${address}/${name} is missing or was changed after it was enqueued`, {
    todo: 'Run asset-export enqueue with the same job and ids again: it puts what is missing or changed.',
  });
}
