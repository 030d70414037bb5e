import type { ClientListener } from '../../core/client/asset-client.ts';
import type { ListingDialect } from '../../core/client/dialects.ts';
import { unfinishedEnding } from '../../places/export/export-folder.ts';
import type { Job } from '../../core/job/job-schema.ts';
import type { ExportContext } from '../../core/run/export-context.ts';
import type { ExportError } from '../../lib/export-error.ts';
import type { ListAccount } from './list-account.ts';
import type { WalkCounts } from './walk/walk.ts';
import type { ListQuery } from './wire/list-body.ts';

export interface ListIdsRequest {
  readonly job: Pick<Job, 'service' | 'budget'>;
  readonly dialect: ListingDialect;
  readonly query: ListQuery;
  /** The list: a path, absolute. `.gz` and `.zst` compress. */
  readonly out: string;
  /** A folder that keeps the records of all pages as an export, absolute. */
  readonly records?: string | undefined;
  /** The number of members that the user knows. */
  readonly expect?: number | undefined;
  /** Most pages without members, in place of the usual number. */
  readonly proofCalls?: number | undefined;
  /** Throw away what an earlier process left. */
  readonly fresh: boolean;
}

/** What happens while a list is made. */
export type ListEvent =
  | { readonly kind: 'opened'; readonly keptPages: number; readonly startedAtMs: number }
  /** Most calls, overrun included, as far as is known: before the first call, and when the total is known. */
  | { readonly kind: 'ceiling'; readonly calls: number; readonly empty: number; readonly total: number | undefined }
  | { readonly kind: 'answered'; readonly counts: WalkCounts; readonly calls: number; readonly credits: number }
  | { readonly kind: 'warning'; readonly message: string };

export interface ListContext extends Omit<ExportContext, 'stdin' | 'threads' | 'listener' | 'observe' | 'run'> {
  /** What the client says. */
  readonly listener: ClientListener;
  readonly onEvent: (event: ListEvent) => void;
}

export interface ListOutcome {
  readonly account: ListAccount;
  /** Where the list is: under its name, or that of one that is not proven. */
  readonly path: string;
  /** Calls and credits of this process. */
  readonly callsOfRun: number;
  readonly creditsOfRun: number;
  /** `notTolerated`: it is not proven, has no members, or not those that were expected. */
  readonly error: ExportError | undefined;
}

/** Where an unfinished list keeps its pages. */
export function listFolder(out: string): string {
  return `${out}${unfinishedEnding}`;
}
