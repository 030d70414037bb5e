import type { CreditLedger } from '../client/ledger/credit-ledger.ts';
import type { Job } from '../job/job-schema.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Counts, FileFacts, ProofCounts } from '../../places/export/export-facts.ts';
import type { AccountFigures } from '../run/history/run-figures.ts';
import type { RunListener } from './run-events.ts';

/** A table of a lake, for a catalogue: the address of its newest version, and the id of its current snapshot (null: none). */
export interface PublishedTable {
  readonly metadata: string;
  readonly snapshot: number | null;
}

/** By name. */
export type PublishedTables = Readonly<Record<string, PublishedTable>>;

/** A run that something follows: its record, metrics, notifications or lineage. */
export interface ObservedRun {
  readonly job: Job;
  /** A UUID of version 7. */
  readonly run: string;
  readonly version: string;
  readonly clock: Clock;
  /** Aborted when the time of grace is over: what is delivered after that is small, and once. */
  readonly abort?: AbortSignal | undefined;
  readonly ledger: Pick<CreditLedger, 'booked'>;
  /** When the export began, for its tables; when the run did, where it is not open yet. Milliseconds since 1970 UTC. */
  readonly startedAtMs: number;
  /** Names one of several workers of an export; undefined where there is one process. */
  readonly worker?: string | undefined;
  /** Takes warnings. */
  readonly listener: RunListener;
  readonly notices: Notices;
}

/** How a run ended. */
export interface RunEnd {
  readonly state: 'complete' | 'stopped';
  /** Exit status of the program. */
  readonly exit: number;
  /** Another worker completed the export, and tells of it. */
  readonly isElsewhere?: boolean | undefined;
  readonly error?: string | undefined;
  readonly todo?: string | undefined;
  /** When there are credits again, of a run that ended for want of them: ISO 8601, `now`, or null where only the provider knows. */
  readonly runAgainAt?: string | null | undefined;
  /** Absent when the export could not be opened. */
  readonly account?: RunAccount | undefined;
  /** Tables of the lake, where the export was published or is. */
  readonly lake?: PublishedTables | undefined;
  /** Of a complete export whose rows were counted. */
  readonly quality?: readonly TableQuality[] | undefined;
}

/** What was counted in a table. */
export interface TableQuality {
  readonly name: string;
  /** Rows that were read. */
  readonly rows: number;
  /** Rows with a value, and different values; null where these were not counted. */
  readonly columns: readonly { readonly name: string; readonly filled: number; readonly distinct: number | null }[];
}

export interface RunAccount extends AccountFigures {
  /** Of the whole export. */
  readonly counts: Counts;
  readonly files: readonly FileFacts[];
  /** Of an export with `output.proofs`. */
  readonly proofs?: ProofCounts | undefined;
  /** Entries that this run read of each input, in the order of reading. */
  readonly inputs: readonly { readonly name: string; readonly entries: number }[];
  /** Of this run. */
  readonly calls: number;
  readonly credits: number;
}

/** Follows a run. It holds nothing up and fails nothing. */
export interface RunObserver {
  /** Takes an event, at once. Never throws. */
  readonly listener: RunListener;
  /** Resolves when all is delivered that can be, before the export is given to others. Never rejects. */
  end(end: RunEnd): Promise<void>;
}

/** Begins to follow a run. @throws {ExportError} `usage` when it cannot, as the job wants it */
export type OpenObserver = (run: ObservedRun) => Promise<RunObserver>;

export const noObserver: RunObserver = { listener: () => undefined, end: () => Promise.resolve() };

/** Several as one. */
export function joinedObservers(observers: readonly RunObserver[]): RunObserver {
  return {
    listener: (event) => {
      for (const { listener } of observers) listener(event);
    },
    end: async (end) => {
      await Promise.all(observers.map((observer) => observer.end(end)));
    },
  };
}

/** Hears of one end: what ends a run may be reported where its export is held, and again where it is not. */
export function endedOnce(observer: RunObserver): RunObserver {
  let ended: Promise<void> | undefined;
  return { listener: observer.listener, end: (end) => (ended ??= observer.end(end)) };
}

/** A wait this short after a reset belongs to it: the clock of the service may be behind. */
const lateMs = 15 * 60_000;

interface KeptNotices {
  /** The reset times that notices named, of all processes of the export; in milliseconds since 1970 UTC. */
  read(): Promise<readonly number[]>;
  /** Keeps that a notice of this reset time was delivered. */
  write(untilMs: number): Promise<void>;
}

/**
 * Which waits for credits were reported: one notice a reset time, whichever process of the export sends it. A run is followed before its
 * export is open, so what earlier runs kept comes later.
 */
export class Notices {
  readonly #told: number[] = [];
  #kept: KeptNotices | undefined;

  keepIn(kept: KeptNotices): void {
    this.#kept = kept;
  }

  async isTold(untilMs: number): Promise<boolean> {
    const kept = (await this.#kept?.read().catch(() => [])) ?? [];
    return [...this.#told, ...kept].some((told) => untilMs <= told + lateMs && untilMs >= told);
  }

  async tell(untilMs: number): Promise<void> {
    this.#told.push(untilMs);
    await this.#kept?.write(untilMs);
  }
}
