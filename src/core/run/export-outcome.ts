import { ExportError } from '../../lib/export-error.ts';
import { committedCounts, driftOf, notesOf, proofsOf } from '../../places/scratch/commit-sums.ts';
import {
  type Commit,
  type Counts,
  type FileFacts,
  type Notes,
  limitOf,
  type SomeIds,
  type Spent,
} from '../../places/export/export-facts.ts';
import type { Manifest } from '../../places/export/manifest.ts';
import { type AccountFigures, accountFigures, manifestFigures } from './history/run-figures.ts';
import type { InvalidSample, TakenColumn } from '../ids/read/list-form.ts';
import type { DriftCount } from '../records/drift.ts';
import type { PublishedTables } from '../work/run-observer.ts';

/** Progress and cost of an export. `read = exported + carried + missing + invalid + duplicate + failed + pending`. */
export interface ExportAccount extends AccountFigures {
  readonly folder: string;
  readonly counts: Counts;
  readonly parts: number;
  readonly files: readonly FileFacts[];
  /** Calls sent, and credits that these may have cost, over all runs of this export. */
  readonly calls: number;
  readonly credits: number;
  readonly drift: readonly DriftCount[];
  readonly notes: Notes;
  /** Of an export with `output.proofs`. */
  readonly proofs?: Manifest['proofs'];
  /** Ids that are read at most; absent for an export of all ids. */
  readonly limit?: SomeIds;
  /** Of an export with a base, when it is complete. */
  readonly base?: Manifest['base'];
  readonly setAside?: Manifest['setAside'];
}

export interface ExportOutcome {
  /** `already`: it was complete before, and nothing was done. */
  readonly state: 'complete' | 'already' | 'unfinished';
  readonly account: ExportAccount;
  /** Calls that this run sent. */
  readonly callsOfRun: number;
  /** Credits that these may have cost. */
  readonly creditsOfRun: number;
  readonly elapsedMs: number;
  /** Where the ids of inputs with columns were read from, and the first entries that are not ids; none for `already`. */
  readonly columns: readonly TakenColumn[];
  readonly invalidSamples: readonly InvalidSample[];
  /** Tables of the lake, where the export was published or is. */
  readonly lake?: PublishedTables;
  /** Why an unfinished export stopped, or why what follows a complete one was not done. */
  readonly error?: ExportError;
}

/** The account of a complete export. */
export function accountOf(folder: string, manifest: Manifest): ExportAccount {
  const { counts, parts, files, calls, credits, drift, notes, proofs, base, setAside } = manifest;
  const figures = manifestFigures(manifest);
  const account = { folder, counts, parts, files, calls, credits, drift, notes };
  return {
    ...account,
    ...figures,
    ...limited(limitOf(manifest.job)),
    ...(proofs === undefined ? {} : { proofs }),
    ...(base === undefined ? {} : { base }),
    ...(setAside === undefined ? {} : { setAside }),
  };
}

function limited(limit: SomeIds | undefined): Pick<ExportAccount, 'limit'> {
  return limit === undefined ? {} : { limit };
}

/** The outcome where an export was complete before. */
export function alreadyComplete(folder: string, manifest: Manifest): ExportOutcome {
  return {
    state: 'already',
    account: accountOf(folder, manifest),
    callsOfRun: 0,
    creditsOfRun: 0,
    elapsedMs: 0,
    columns: [],
    invalidSamples: [],
  };
}

/** The account of an export whose manifest is not written. */
export function unfinishedAccount({
  folder,
  commits,
  read,
  fetched,
  calls,
  credits,
  limit,
}: Spent & {
  readonly folder: string;
  readonly commits: readonly Commit[];
  /** Entries read so far, and ids whose answers are kept and lie in no part. */
  readonly read: number;
  readonly fetched: number;
  readonly limit?: SomeIds | undefined;
}): ExportAccount {
  const counts = committedCounts(commits);
  const figures = accountFigures({ counts, read, fetched });
  const proofs = proofsOf(commits);
  return {
    folder,
    counts: { ...counts, read: counts.read + figures.pending },
    ...figures,
    parts: commits.length,
    files: commits.flatMap(({ files }) => files),
    calls,
    credits,
    drift: driftOf(commits),
    notes: notesOf(commits),
    ...(proofs === undefined ? {} : { proofs }),
    ...limited(limit),
  };
}
