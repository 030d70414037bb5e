import type { LockOwner } from '../../lib/process/lock-owner.ts';
import type { ExportStart } from '../../store/checkpoint.ts';
import type { Commit } from '../../store/export-facts.ts';
import type { Manifest } from '../../store/manifest.ts';
import type { RunLine } from '../../store/run-lines.ts';
import type { Spent } from './export-home.ts';

/** What is known of an export that is not complete. */
export interface UnfinishedStanding {
  /** Undefined as long as a run reads its inputs. */
  readonly start: ExportStart | undefined;
  readonly commits: readonly Commit[];
  readonly spent: Spent;
  /** Who makes its parts; undefined when nobody does. */
  readonly owner: LockOwner | undefined;
  readonly lines: readonly RunLine[];
}

/** What `status` is made of. */
export type ExportStanding = UnfinishedStanding | { readonly manifest: Manifest; readonly lines: readonly RunLine[] };
