import type { FreeSpace } from '../../lib/disk/on-disk.ts';
import type { ObjectStore } from '../../places/objects/object-store.ts';
import type { StoreRequest } from '../../places/objects/open-objects.ts';
import type { PartsContext } from '../work/parts-context.ts';
import type { OpenObserver } from '../work/run-observer.ts';

/** Everything an export does to the world, as arguments. */
export interface ExportContext extends PartsContext {
  /** Opens the bucket of an export; by default with the credentials of the environment. */
  readonly openStore?: (request: StoreRequest) => Promise<ObjectStore>;
  /** Ids from `-`. When the run is stopped before its end, a stream is destroyed. */
  readonly stdin: AsyncIterable<Uint8Array>;
  /** Tells what is free on a disk; the system's unless given. */
  readonly freeSpace?: FreeSpace;
  /** What else follows the run: metrics, notifications, lineage. Absent: nothing. */
  readonly observe?: OpenObserver;
  /** Of asset-export: the manifest names it as `program.version`. */
  readonly version: string;
  /** Names this run in its record and in logs: a UUID of version 7. Made where it is absent. */
  readonly run?: string;
}
