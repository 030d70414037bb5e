import type { DriftCount } from '../../core/records/drift.ts';
import type { Counts, Notes, ProofCounts, SomeIds } from '../../places/export/export-facts.ts';
import type { AccountFigures } from '../../core/run/history/run-figures.ts';
import type { DataProfile } from './profile/profile-source.ts';
import type { RunsData } from './runs.ts';
import type { UnexportedData } from './unexported.ts';

export interface ReportState {
  readonly kind: 'complete' | 'goes on' | 'stopped';
  /** Exit status of the last run; null while one works, for a killed one and where it is not recorded. */
  readonly exit: number | null;
  readonly isKilled: boolean;
  /** The error that ended the last run. */
  readonly error: string | null;
  /** Milliseconds since 1970 UTC; null where they are not recorded. */
  readonly beganMs: number | null;
  readonly endedMs: number | null;
}

export interface FilesOfTable {
  readonly table: string;
  readonly format: string;
  readonly files: number;
  readonly rows: number;
  readonly bytes: number;
}

export interface DriftData {
  readonly rows: readonly DriftCount[];
  readonly more: number;
}

export interface BaseData {
  readonly name: string;
  /** Rows of the base. */
  readonly rows: number;
  /** Too many of them were not listed: the export is set aside. */
  readonly isSetAside: boolean;
}

/** What an export keeps about itself, and what its rows hold. */
export interface ReportFacts {
  /** Name of the folder. */
  readonly name: string;
  /** Versions of the program: the one that made the export, the one that made the report. */
  readonly madeBy: string;
  readonly version: string;
  readonly state: ReportState;
  /** Ids that are read at most; null for an export of all ids. */
  readonly limit: SomeIds | null;
  readonly counts: Counts;
  /** Entries that were read and are in no committed part. */
  readonly pending: number;
  /** The figures that every view of the export shows. */
  readonly account: AccountFigures;
  /** The export that this one took rows from; null without one, and until it is complete. */
  readonly base: BaseData | null;
  readonly calls: number;
  readonly credits: number;
  readonly parts: number;
  /** Of all tables. */
  readonly rows: number;
  readonly tables: readonly { readonly name: string; readonly rows: number; readonly columns: number }[];
  readonly files: readonly FilesOfTable[];
  readonly notes: Notes;
  /** Null without `output.proofs`. */
  readonly proofs: ProofCounts | null;
  readonly runs: RunsData | null;
  readonly profile: DataProfile | null;
  /** Why there is no profile. */
  readonly profileMissing: string | null;
  readonly drift: DriftData;
  readonly unexported: UnexportedData;
  readonly inputs: readonly { readonly name: string; readonly bytes: number; readonly sha256: string }[];
  readonly settings: readonly { readonly name: string; readonly value: string }[];
}

/** A line that leads to a section. */
export interface Look {
  /** Of the section, without `#`. */
  readonly target: string;
  /** The words of the link. */
  readonly link: string;
  readonly rest: string;
  /** Names that come from the data, behind the rest. */
  readonly names: readonly string[];
}

export interface NextStep {
  readonly title: string;
  readonly about: string;
  /** For a shell, in the folder that holds the export's. */
  readonly command: string;
}

/** Everything a report shows: `--json` prints it, and the page is made of it alone. */
export interface ReportData extends ReportFacts {
  readonly look: readonly Look[];
  readonly next: readonly NextStep[];
}
