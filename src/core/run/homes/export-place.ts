import { bucketFiles } from '../../../places/export/bucket-files.ts';
import type { FileStore } from '../../../places/files/file-store.ts';
import { folderPlace } from '../../../places/files/folder-place.ts';
import type { ObjectStore } from '../../../places/objects/object-store.ts';

/** Where an export lies that is read. */
export interface ExportPlace {
  /** Those of a bucket are read only. */
  readonly files: FileStore;
  /** Absolute, or the address of a bucket. */
  readonly folder: string;
  readonly store: ObjectStore;
}

export function inFolder(files: FileStore, folder: string): ExportPlace {
  return { files, folder, store: folderPlace(files, folder) };
}

export function inBucket(store: ObjectStore, address: string): ExportPlace {
  return { files: bucketFiles(store, address), folder: address, store };
}
