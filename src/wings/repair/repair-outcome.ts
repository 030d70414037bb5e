import type { ExportError } from '../../lib/export-error.ts';
import type { Spent } from '../../places/export/export-facts.ts';
import type { Verification } from '../../exports/verify-export.ts';

/** What was requested again. */
export interface RequestedParts {
  /** Parts that were made again from the service, from 0. */
  readonly parts: readonly number[];
  /** Calls that this took, and credits that these may have cost. */
  readonly calls: number;
  readonly credits: number;
  /** Why it stopped before all was repaired, or the lake does not follow. The same request resumes. */
  readonly error?: ExportError;
}

export interface RepairOutcome extends RequestedParts {
  /** The damage that remains. */
  readonly after: Verification;
  /** Files that were rebuilt from other files of the export, or from its base, for no credits. */
  readonly rebuilt: readonly string[];
  /** The cost of making the parts again that were still damaged then; absent where there were none, or the ids are not known. */
  readonly bill?: Spent;
  /** Sentences about the bill, and about what cannot be repaired. */
  readonly notes: readonly string[];
}
