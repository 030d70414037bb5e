import type { LockOwner } from '../../../lib/process/lock-owner.ts';
import type { Commit, ExportStart, Spent } from '../../../places/export/export-facts.ts';
import type { FleetStanding } from '../../../places/log/heartbeat.ts';
import type { Manifest } from '../../../places/export/manifest.ts';
import type { RunLine } from './run-lines.ts';

/** What is known of an export that is not complete. */
export interface UnfinishedStanding {
  /** Undefined as long as a run reads its inputs. */
  readonly start: ExportStart | undefined;
  readonly commits: readonly Commit[];
  readonly spent: Spent;
  /** Who makes its parts; undefined when nobody does. */
  readonly owner: LockOwner | undefined;
  readonly lines: readonly RunLine[];
  /** Of an export that was enqueued. */
  readonly fleet?: FleetStanding | undefined;
}

/** How an export stands now: what `status` and `report` are made of. */
export type ExportStanding = UnfinishedStanding | { readonly manifest: Manifest; readonly lines: readonly RunLine[] };
