import type { ObjectStore } from '../../../places/objects/object-store.ts';
import type { FileStore } from '../../../places/files/file-store.ts';

/** Where an export lies that is read. */
export interface ExportPlace {
  /** Those of a bucket are read only. */
  readonly files: FileStore;
  /** Absolute, or the address of a bucket. */
  readonly folder: string;
  /** Of a bucket. */
  readonly store?: ObjectStore;
}
