import { ExportError } from '../../../../src/lib/export-error.ts';
import { type AssetStore, MemoryStore, memoryAssets } from './asset-store.ts';
import { type AssetSource, readRecords } from './read-records.ts';
import { openStoredAssets } from './stored-assets.ts';

export interface AssetFolders {
  /** Where they are kept on disk; absent: in memory. */
  readonly storeDir?: string;
  /** Where they are kept on disk when memory does not hold them and no store is named. */
  readonly spillDir?: string;
}

/** Opens the assets that the service answers from. @throws {ExportError} `input`, `usage` or `cannotWrite`. */
export async function openAssets(source: AssetSource, { storeDir, spillDir }: AssetFolders): Promise<AssetStore> {
  if (storeDir !== undefined) return openStoredAssets(source, storeDir);
  const store = new MemoryStore();
  for await (const records of readRecords(source)) {
    for (const { id, record } of records) store.put(id, record);
    if (store.count <= memoryAssets) continue;
    if (spillDir === undefined) throw tooMany();
    await store.close();
    return openStoredAssets(source, spillDir);
  }
  return store;
}

function tooMany(): ExportError {
  return new ExportError('usage', `more than ${memoryAssets} assets do not fit in memory`, {
    todo: 'Keep them on disk: asset-export serve --assets FILE --store DIR',
  });
}
