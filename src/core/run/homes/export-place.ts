import { join } from 'node:path';
import { homeFolder } from '../../../lib/addresses/address.ts';
import type { Disk, Reads } from '../../../places/files/disk.ts';
import { folderPlace } from '../../../places/files/folder-place.ts';
import type { ObjectStore } from '../../../places/objects/object-store.ts';
import { isBucketAddress } from '../../../lib/addresses/address-kinds.ts';
import { sha256 } from '../../../lib/hash/sha256.ts';

/** What reads an export: its store, the same as files, and its address. */
export interface ExportPlace {
  readonly files: Reads;
  /** The same, where it is a folder: only there can files be written. */
  readonly disk?: Disk;
  /** Absolute, or the address of a bucket. */
  readonly folder: string;
  readonly store: ObjectStore;
}

export function inFolder(files: Disk, folder: string, store = folderPlace(files, folder)): ExportPlace {
  return { files, disk: files, folder, store };
}

/** The local folder of an export: its own, or for a bucket the scratch folder of this user, one an address. */
export function localFolder({
  output,
}: {
  readonly output: { readonly dir: string; readonly scratch?: string | undefined };
}): string {
  if (!isBucketAddress(output.dir)) return output.dir;
  const hash = sha256(output.dir.replace(/\/+$/, ''));
  return join(output.scratch ?? cacheFolder(), hash.slice(0, 16));
}

function cacheFolder(): string {
  const base = process.env['XDG_CACHE_HOME'];
  return join(
    base === undefined || base === ''
      ? join(homeFolder('Name a folder with --scratch or output.scratch.'), '.cache')
      : base,
    'asset-export',
  );
}
