import { createHash, randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { codeOf, ExportError, messageOf } from '../../../../src/lib/export-error.ts';
import { syncFolder } from '../../../../src/lib/disk/on-disk.ts';
import { answersAt, type LifeSocket, openingSuffix, openLifeSocket } from '../../../../src/lib/process/life-socket.ts';
import type { AssetStore } from './asset-store.ts';
import { buildStore } from './build-store.ts';
import { layoutVersion } from './index-layout.ts';
import { IndexedStore } from './indexed-store.ts';
import type { AssetSource } from './read-records.ts';
import { storeError } from './store-error.ts';

/**
 * Opens the assets of these files from a folder on disk, where they are built once. A store is made beside the one in
 * use and takes its place by a rename when it is whole and synced; services that have the old one open keep it.
 * @throws {ExportError} `input` for assets that cannot be read, `cannotWrite` for the folder.
 */
export async function openStoredAssets(source: AssetSource, storeDir: string): Promise<AssetStore> {
  const folder = join(storeDir, `assets-${fingerprintOf(source.assets)}`);
  const there = openWhole(folder);
  if (there !== undefined) return there;
  await replaceStore(source, { storeDir, folder });
  const built = openWhole(folder);
  if (built === undefined) throw storeError(`open the store in ${folder}`, new Error('another program removed it'));
  return built;
}

/** Undefined where there is none, or it was damaged since it was built. */
function openWhole(folder: string): IndexedStore | undefined {
  try {
    return IndexedStore.open(folder);
  } catch (error) {
    throw storeError(`open the store in ${folder}`, error);
  }
}

async function replaceStore(
  source: AssetSource,
  { storeDir, folder }: { readonly storeDir: string; readonly folder: string },
): Promise<void> {
  const building = join(storeDir, `building-${process.pid}-${randomUUID()}`);
  let socket: LifeSocket | undefined;
  try {
    mkdirSync(storeDir, { recursive: true });
    await removeDead(storeDir);
    // Before there is a folder, which is never to be taken for that of a dead builder.
    socket = await openLifeSocket(socketOf(building));
    await buildStore(source, building);
    // Another service may have built the same one meanwhile. What is damaged makes room; services that have it open keep it.
    if (existsSync(folder)) {
      const there = openWhole(folder);
      if (there === undefined) rmSync(folder, { recursive: true, force: true });
      await there?.close();
    }
    take(building, folder);
    await syncFolder(storeDir);
    removeOthers(storeDir, basename(folder));
  } catch (error) {
    throw storeError(`build the store in ${storeDir}`, error);
  } finally {
    rmSync(building, { recursive: true, force: true });
    socket?.close();
  }
}

/** Removes older stores. */
function removeOthers(storeDir: string, store: string): void {
  for (const name of readdirSync(storeDir)) {
    if (name.startsWith('assets-') && name !== store) rmSync(join(storeDir, name), { recursive: true, force: true });
  }
}

function socketOf(building: string): string {
  return `${building}.alive`;
}

/** Another service may have built the same store meanwhile: then its store stands. */
function take(building: string, folder: string): void {
  try {
    renameSync(building, folder);
  } catch (error) {
    if (codeOf(error) !== 'ENOTEMPTY' && codeOf(error) !== 'EEXIST') throw error;
  }
}

/** Removes what dead builders left. Builders in containers can have equal pids, so their sockets are called too. */
async function removeDead(storeDir: string): Promise<void> {
  for (const name of readdirSync(storeDir)) {
    // Its builder may be alive: it has no folder yet, and opens its socket again.
    if (name.startsWith('building-') && name.endsWith(openingSuffix)) rmSync(join(storeDir, name), { force: true });
    const [, builder, pid] = /^(building-(\d+)(?:-[\w-]+)?)(?:\.alive)?$/.exec(name) ?? [];
    if (builder === undefined || isOther(Number(pid))) continue;
    const building = join(storeDir, builder);
    if (await answersAt(socketOf(building))) continue;
    rmSync(building, { recursive: true, force: true });
    rmSync(socketOf(building), { force: true });
  }
}

/** Whether a pid is that of a living process that is not this one. */
function isOther(pid: number): boolean {
  if (pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) === 'EPERM';
  }
}

/** Identifies files by path, size and modification time, so that a store is reopened without reading them. */
function fingerprintOf(assets: readonly string[]): string {
  const hash = createHash('sha256').update(`layout ${layoutVersion}`);
  for (const path of assets) {
    try {
      const { size, mtimeNs } = statSync(accountOf(path), { bigint: true });
      hash.update(`\n${resolve(path)} ${size} ${mtimeNs}`);
    } catch (cause) {
      const why = codeOf(cause) === 'ENOENT' ? 'no such file' : messageOf(cause);
      throw new ExportError('input', `cannot read assets from ${path}: ${why}`, { cause });
    }
  }
  return hash.digest('hex').slice(0, 16);
}

/** An export's folder changes when its manifest does, which is written last. */
function accountOf(path: string): string {
  return statSync(path).isDirectory() ? join(path, 'manifest.json') : path;
}
