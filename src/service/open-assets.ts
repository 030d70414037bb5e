import { ExportError } from '../lib/export-error.ts';
import { type AssetStore, MemoryStore, memoryAssets } from './asset-store.ts';
import { readRecords } from './read-records.ts';

export interface AssetSource {
  /** Paths of JSONL files, plain, `.gz` or `.zst`. */
  readonly assets: readonly string[];
}

/** Opens the assets that the service answers from. @throws {ExportError} `input` or `usage`. */
export async function openAssets(source: AssetSource): Promise<AssetStore> {
  const store = new MemoryStore();
  for await (const records of readRecords(source.assets)) {
    for (const { id, packed } of records) store.put(id, packed);
    if (store.count > memoryAssets) throw tooMany();
  }
  return store;
}

function tooMany(): ExportError {
  return new ExportError('usage', `there are more than ${memoryAssets} assets: too many to hold in memory`, {
    todo: 'name a folder for them with --store DIR',
  });
}
