import type { SliceShape } from '../../ids/batch-ids.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { Commit } from '../../../places/export/export-facts.ts';
import type { ObjectStore } from '../../../places/objects/object-store.ts';
import type { Disk } from '../../../places/files/disk.ts';
import type * as sharedHome from './shared-home.ts';

/** What a home is made of: the store of an export, the local folder where its parts are made (in a folder, itself), and who else may work on it. */
export interface HomePlace {
  readonly files: Disk;
  readonly store: ObjectStore;
  readonly clock: Clock;
  /** Aborted when the time of grace of the process is over. */
  readonly abort?: AbortSignal | undefined;
  /** The absolute path of the folder, or the address in a bucket. */
  readonly address: string;
  readonly scratch: string;
  /** Folder of this process's history of runs; `scratch` unless given. */
  readonly recordFolder?: string;
  readonly shape: SliceShape;
  /** All entries are one slice, as in a folder. */
  readonly isWhole?: true;
  /** Without a heartbeat for so long, a holder counts as dead. */
  readonly deadAfterSeconds: number;
  /** Told of each part whose commit is withdrawn, with what is wrong with it. Absent in a repair, which has verified the parts. */
  readonly onDamaged?: ((commit: Commit, damage: string) => void) | undefined;
  /** What only an export in a bucket needs (`shared-home.ts`). The lock of a folder keeps other processes away: such an export is one slice. */
  readonly shared: typeof sharedHome | undefined;
}
