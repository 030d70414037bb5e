import type { SliceShape } from '../../ids/cut-slices.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { ObjectStore } from '../../../places/objects/object-store.ts';
import type { FileStore } from '../../../places/files/file-store.ts';

/** An export in a bucket, and the local folder where its parts are made. */
export interface BucketPlace {
  readonly files: FileStore;
  readonly store: ObjectStore;
  readonly clock: Clock;
  /** Aborted when the time of grace of the process is over. */
  readonly abort?: AbortSignal | undefined;
  readonly address: string;
  readonly scratch: string;
  /** Folder of this process's record of runs; `scratch` unless given. */
  readonly recordFolder?: string;
  readonly shape: SliceShape;
  /** Without a heartbeat for so long, a holder counts as dead. */
  readonly deadAfterSeconds: number;
}
