import type { Holding } from '../pipeline/held-bytes.ts';
import type { RunEvent } from '../pipeline/run-events.ts';

/** What is known of a run at a moment, summed from its events. */
export interface ProgressState {
  /** Ids whose fate is known, in committed parts or answers. */
  idsAnswered: number;
  idsReplayed: number;
  entriesRead: number;
  inputBytes: number;
  inputBytesTotal: number;
  callsSent: number;
  callsInFlight: number;
  /** What each thread holds in memory for its calls. */
  readonly holding: Map<number, Holding>;
  retries: number;
  partsCommitted: number;
  entriesCommitted: number;
  /** Entries that were committed before this run. */
  entriesBefore: number;
  /** What the run waits for, and until when (ms since 1970). */
  waiting: { readonly reason: string; readonly untilMs: number } | undefined;
}

export function newProgressState(): ProgressState {
  return {
    idsAnswered: 0,
    idsReplayed: 0,
    entriesRead: 0,
    inputBytes: 0,
    inputBytesTotal: 0,
    callsSent: 0,
    callsInFlight: 0,
    holding: new Map(),
    retries: 0,
    partsCommitted: 0,
    entriesCommitted: 0,
    entriesBefore: 0,
    waiting: undefined,
  };
}

/** Takes one event into the state. */
export function addEvent(state: ProgressState, event: RunEvent): void {
  switch (event.kind) {
    case 'opened':
      state.inputBytesTotal = event.inputBytes;
      state.partsCommitted = event.parts;
      state.entriesCommitted = state.entriesBefore = event.counts.read;
      return;
    case 'read':
      state.entriesRead = event.entries;
      state.inputBytes = event.inputBytes;
      return;
    case 'sent':
      state.callsSent += 1;
      state.callsInFlight += 1;
      state.waiting = undefined;
      return;
    case 'answered':
      state.callsInFlight -= 1;
      state.idsAnswered += event.ids;
      return;
    case 'replayed':
      state.idsReplayed += event.ids;
      return;
    case 'retry':
      state.retries += 1;
      state.callsInFlight -= 1;
      return;
    case 'paused':
    case 'waiting':
      state.waiting = { reason: event.reason, untilMs: event.untilMs };
      return;
    case 'shrunk':
      return;
    case 'holding':
      state.holding.set(event.thread, event);
      return;
    case 'committed':
      state.partsCommitted += 1;
      state.entriesCommitted += event.commit.counts.read;
  }
}

/** What all threads hold in memory for their calls; full when one of them is. */
export function holdingOf({ holding }: ProgressState): Holding {
  const each = [...holding.values()];
  return { bytes: each.reduce((sum, { bytes }) => sum + bytes, 0), isFull: each.some(({ isFull }) => isFull) };
}

/** Entries of the whole input: known when it is read, estimated from its bytes before. */
export function entriesTotal({ entriesRead, inputBytes, inputBytesTotal }: ProgressState): number | undefined {
  if (entriesRead === 0 || inputBytes === 0) return undefined;
  return inputBytes >= inputBytesTotal ? entriesRead : Math.round((entriesRead / inputBytes) * inputBytesTotal);
}

/** Entries that are done or answered. */
export function entriesDone(state: ProgressState): number {
  const answered = state.entriesBefore + state.idsAnswered + state.idsReplayed;
  return Math.max(state.entriesCommitted, Math.min(answered, Math.max(state.entriesRead, state.entriesBefore)));
}
