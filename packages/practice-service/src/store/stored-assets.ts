import { createHash, randomUUID } from 'node:crypto';
import { readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { codeOf } from '../../../../src/lib/export-error.ts';
import { syncFolder } from '../../../../src/lib/disk/on-disk.ts';
import type { AssetStore } from './asset-store.ts';
import { buildStore, IndexedStore } from './indexed-store.ts';
import { type AssetSource, unreadable } from './read-records.ts';
import { storeError } from './store-error.ts';

/** Changes with the layout of the files of a store: an older store is not read. */
const layoutVersion = 3;
/** What a store of other files, and a builder that was killed, left. */
const leftovers = /^(assets-[0-9a-f]{16}|building-[0-9a-f-]{36})$/;

/**
 * Opens the assets of these files from a folder on disk, where they are built once. A store is made beside the one in
 * use and takes its place by a rename when it is whole and synced; services that have the old one open keep it.
 * @throws {ExportError} `input` for assets that cannot be read, `cannotWrite` for the folder.
 */
export async function openStoredAssets(source: AssetSource, storeDir: string): Promise<AssetStore> {
  const folder = join(storeDir, `assets-${fingerprintOf(source.assets)}`);
  let cause: unknown = new Error('another program changes it');
  for (let tries = 4; tries > 0; tries -= 1) {
    const building = join(storeDir, `building-${randomUUID()}`);
    try {
      const there = IndexedStore.open(folder);
      if (there !== undefined) return there;
      await buildStore(source, building);
      await take(building, folder);
    } catch (error) {
      cause = error;
      // Another service finished its store meanwhile: it took the place, and removed what others build.
      if (!['ENOENT', 'ENOTEMPTY', 'EEXIST'].includes(codeOf(error) ?? '')) break;
    } finally {
      rmSync(building, { recursive: true, force: true });
    }
  }
  throw storeError(`build the store in ${storeDir}`, cause);
}

async function take(building: string, folder: string): Promise<void> {
  const there = IndexedStore.open(folder);
  await there?.close();
  if (there !== undefined) return;
  rmSync(folder, { recursive: true, force: true });
  renameSync(building, folder);
  const storeDir = join(folder, '..');
  for (const name of readdirSync(storeDir))
    if (leftovers.test(name) && name !== basename(folder))
      rmSync(join(storeDir, name), { recursive: true, force: true });
  await syncFolder(storeDir);
}

/** Identifies files by path, size and modification time, so that a store is reopened without reading them. */
function fingerprintOf(assets: readonly string[]): string {
  const hash = createHash('sha256').update(`layout ${layoutVersion}`);
  for (const path of assets) {
    try {
      const { size, mtimeNs } = statSync(accountOf(path), { bigint: true });
      hash.update(`\n${resolve(path)} ${size} ${mtimeNs}`);
    } catch (cause) {
      throw unreadable(path, cause);
    }
  }
  return hash.digest('hex').slice(0, 16);
}

/** An export's folder changes when its manifest does, which is written last. */
function accountOf(path: string): string {
  return statSync(path).isDirectory() ? join(path, 'manifest.json') : path;
}
