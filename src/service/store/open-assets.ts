import { ExportError } from '../../lib/export-error.ts';
import { type AssetStore, MemoryStore, memoryAssets } from './asset-store.ts';
import { readRecords } from './read-records.ts';
import { openStoredAssets } from './stored-assets.ts';

export interface AssetSource {
  /** Paths of JSONL files, plain, `.gz` or `.zst`, and folders of finished exports. */
  readonly assets: readonly string[];
  /** Where they are kept on disk; absent: in memory. */
  readonly storeDir?: string;
  /** Where they are kept on disk when memory does not hold them and no store is named. */
  readonly spillDir?: string;
}

/** Opens the assets that the service answers from. @throws {ExportError} `input`, `usage` or `cannotWrite`. */
export async function openAssets({ assets, storeDir, spillDir }: AssetSource): Promise<AssetStore> {
  if (storeDir !== undefined) return openStoredAssets(assets, storeDir);
  const store = new MemoryStore();
  for await (const records of readRecords(assets)) {
    for (const { id, packed } of records) store.put(id, packed);
    if (store.count <= memoryAssets) continue;
    if (spillDir === undefined) throw tooMany();
    await store.close();
    return openStoredAssets(assets, spillDir);
  }
  return store;
}

function tooMany(): ExportError {
  return new ExportError('usage', `more than ${memoryAssets} assets do not fit in memory`, {
    todo: 'Keep them on disk: asset-export serve --assets FILE --store DIR',
  });
}
