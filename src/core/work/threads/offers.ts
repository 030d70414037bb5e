import type { KeptHint } from '../../client/policies/with-journal.ts';
import type { ServiceAddressOptions } from '../../client/wire/service-address.ts';
import type { AssetAnswer, CallOutline } from '../../client/asset-client.ts';
import type { ProxySettings } from '../../client/wire/proxy-settings.ts';
import type { Job } from '../../job/job-schema.ts';
import type { RunEvent } from '../run-events.ts';
import type { Begun } from '../../../places/export/export-facts.ts';
import type { FinishedPart } from '../write-parts.ts';
import type { PartGroup } from './group-parts.ts';
import type { PackedError } from './packed-error.ts';
import type { AbsenceDesk } from '../../client/second-answers.ts';
import type { Port } from './peer.ts';

/** What a thread needs to know before it begins. It goes from memory to memory: the key is in no argument, no file. */
export interface ThreadSettings {
  /** From 1: names the thread in events. */
  readonly thread: number;
  readonly job: Job;
  /** Local folder where files are made and answers kept. */
  readonly scratch: string;
  readonly service: ServiceAddressOptions;
  readonly proxy: ProxySettings | undefined;
  /** Names of the inputs, by `IdEntry.source`. */
  readonly sources: readonly string[];
  readonly begun: Begun;
  /** Calls that this thread should have in flight: its share of all. */
  readonly concurrency: number;
  readonly mostBytes: number;
}

/** A thread that was started. */
export interface Thread {
  readonly port: Port;
  /** Resolves when it is gone; rejects with what killed it. */
  readonly gone: Promise<void>;
}

/** What the coordinator offers to a thread. A type, as no interface counts as a record of functions. */
export type Desk = {
  /** The next parts to make; undefined when there are none. */
  readonly nextParts: (none: undefined) => Promise<PartGroup | undefined>;
  /**
   * Runs the policies for a call, under a number of its own: they send it, perhaps several times, through `send`. Its ids, but the first,
   * and its records stay in the thread.
   */
  readonly ask: (call: CallOutline & { readonly id: number }) => Promise<AssetAnswer>;
  readonly hint: (hint: KeptHint) => void;
  readonly judgeAbsence: AbsenceDesk['judge'];
  readonly witnesses: AbsenceDesk['witnesses'];
  readonly secondAnswer: AbsenceDesk['second'];
  readonly settleAbsence: AbsenceDesk['settle'];
  readonly tellEvent: (event: RunEvent) => void;
  readonly finish: (part: FinishedPart) => void;
  /** A batch failed or the consumer left: no new call should start. */
  readonly halt: (reason: PackedError) => void;
  /** All is done, or failed; nothing follows. */
  readonly end: (failure: PackedError | undefined) => void;
};

/** What a thread offers to the coordinator. */
export type Bench = {
  /** One exchange for a call of this thread; of records it returns only that they came. */
  readonly send: (call: { readonly callId: number; readonly fresh: boolean }) => Promise<AssetAnswer>;
  /** One exchange for one id alone, in the form of a call of this thread: see `SentCall`. */
  readonly sendAlone: (control: {
    readonly callId: number;
    readonly id: string | number;
    readonly fresh: boolean;
  }) => Promise<AssetAnswer>;
  /** Ends the exchanges in flight. */
  readonly abort: (reason: PackedError) => void;
};
