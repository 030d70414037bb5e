import type { AssetAnswer, CallOutline } from '../../client/asset-client.ts';
import type { AnsweredSize } from '../../client/with-size-guard.ts';
import type { ProxySettings } from '../../client/proxy-settings.ts';
import type { Job } from '../../job/job-schema.ts';
import type { RunEvent } from '../run-events.ts';
import type { FinishedPart } from '../write-parts.ts';
import type { PackedBatch } from './packed-batch.ts';
import type { PackedError } from './packed-error.ts';
import type { Port } from './peer.ts';

/** What a thread needs to know before it begins. It goes from memory to memory: the key is in no argument, no file. */
export interface ThreadSettings {
  /** From 1: names the thread in events, and its files of answers. */
  readonly thread: number;
  readonly journalNumber: number;
  readonly job: Job;
  readonly service: { readonly url: string; readonly apiKey: string };
  readonly proxy: ProxySettings | undefined;
  /** Names of the inputs, by `IdEntry.source`. */
  readonly sources: readonly string[];
  readonly startedAtMs: number;
  /** Whether earlier runs left answers: else none is looked for. */
  readonly hasKept: boolean;
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

export type StartThread = (settings: ThreadSettings) => Thread;

/** One call of a thread, by a number of its own. Its ids stay there, but for the first. */
export interface NumberedCall extends CallOutline {
  readonly id: number;
}

/** An answer by the name of its call, as it is kept. */
export interface KeptAnswer {
  readonly key: string;
  readonly body: Uint8Array;
}

/** A stretch as it is handed out. */
export interface HandedStretch {
  readonly parts: readonly number[];
  readonly batches: readonly PackedBatch[];
}

/** What the coordinator offers to a thread. A type, as no interface counts as a record of functions. */
export type Desk = {
  /** The next stretch; undefined when there is none, or when the run ends. */
  readonly nextStretch: (none: undefined) => Promise<HandedStretch | undefined>;
  /** Runs the policies for a call: they send it, perhaps several times, through `send`. The records stay in the thread. */
  readonly ask: (call: NumberedCall) => Promise<AssetAnswer>;
  /** The answers of a batch that a neighbour needs too: the coordinator asks for it, once, for both. */
  readonly sharedAnswers: (from: number) => Promise<readonly KeptAnswer[]>;
  /** An answer that an earlier run kept. */
  readonly find: (key: string) => Promise<Uint8Array | undefined>;
  readonly learnSize: (size: AnsweredSize) => void;
  readonly tellEvent: (event: RunEvent) => void;
  readonly finish: (part: FinishedPart) => void;
  /** A batch failed, or nobody waits for the rest: nothing new should begin. */
  readonly halt: (reason: PackedError) => void;
  /** All is done, or failed; nothing follows. */
  readonly end: (failure: PackedError | undefined) => void;
};

/** What a thread offers to the coordinator. */
export type Bench = {
  /** One exchange for a call of this thread; of records it returns only that they came. */
  readonly send: (callId: number) => Promise<AssetAnswer>;
  /** Ends the exchanges in flight. */
  readonly abort: (reason: PackedError) => void;
};
