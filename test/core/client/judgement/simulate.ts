import {
  type AssetClient,
  type ElementReader,
  noRecords,
  AttemptError,
  type ClientEvent,
} from '../../../../src/core/client/asset-client.ts';
import { createClient, type CreatedClient } from '../../../../src/core/client/create-client.ts';
import {
  type AnswerEntry,
  type AnswerJournal,
  journaled,
  type KeptHint,
} from '../../../../src/core/client/policies/with-journal.ts';
import { type Concurrency, mostAtOnce } from '../../../../src/core/client/judgement/call-limit.ts';
import { createMemoryLedger } from '../../../../src/core/client/ledger/credit-ledger.ts';
import { lookUpBatch } from '../../../../src/core/client/look-up-batch.ts';
import { Brake } from '../../../../src/core/client/policies/brake.ts';
import type { Overrun } from '../../../../src/core/client/policies/shared-pace.ts';
import { SecondAnswers } from '../../../../src/core/client/second-answers.ts';
import { IdList } from '../../../../src/core/ids/id-list.ts';
import type { Clock } from '../../../../src/lib/clock.ts';
import { ExportError } from '../../../../src/lib/export-error.ts';
import { mapOrdered } from '../../../../src/lib/map-ordered.ts';
import { remoteClient } from '../../../../src/core/work/threads/run-thread.ts';
import { answerBody, idsOf, noFlags } from '../support/calls.ts';
import type { Service } from './services.ts';

export interface Simulation {
  readonly service: Service;
  readonly ids: number;
  readonly idsPerCall: number;
  readonly seed: number;
  /** `auto` unless it is said. */
  readonly concurrency?: Concurrency;
  readonly retries?: number;
  /** With 2, the calls of two threads, which share the policies. */
  readonly threads?: 1 | 2;
  /** Ends the run; without it, no brake. */
  readonly overrun?: Overrun;
  /** Whether what answers lack is weighed. */
  readonly weighs?: boolean;
  /** Ends the run at once when so many calls were answered, as a crash does. */
  readonly killAt?: number | undefined;
  /** What earlier runs of the command kept. */
  readonly journal?: Map<string, AnswerEntry>;
}

export interface Outcome {
  /** 0, or the exit code of what ended the run. */
  readonly exit: number;
  readonly calls: number;
  /** Numbers of the ids that failed. */
  readonly failed: readonly number[];
  /** Numbers of the ids that are missing. */
  readonly missing: readonly number[];
  /** Ids for whose fate the service is said to be the source, though it never spoke of them. */
  readonly invented: number;
  readonly seconds: number;
  readonly events: readonly ClientEvent[];
  readonly error: ExportError | undefined;
}

/** Ids are made once: the number of an id is its place here. */
const pool: string[] = [];
const numberOf = new Map<string, number>();

function poolOf(count: number): readonly string[] {
  for (const id of idsOf(Math.max(0, count - pool.length), pool.length)) {
    numberOf.set(id, pool.length);
    pool.push(id);
  }
  return pool;
}

const answered = { ...noRecords, body: Buffer.from('{"jsonrpc":"2.0","id":"1","result":[]}') };

/** Runs a lookup of ids with the real policies against a service, in virtual time. */
export async function simulate(setting: Simulation): Promise<Outcome> {
  const {
    service,
    ids,
    idsPerCall,
    seed,
    concurrency = 'auto',
    retries = 8,
    threads = 1,
    overrun,
    journal,
    weighs = false,
    killAt,
  } = setting;
  const random = seeded(seed);
  const clock = new VirtualClock();
  let kill = (): void => undefined;
  const killed = new Promise<'killed'>((resolve) => {
    kill = () => {
      resolve('killed');
    };
  });
  const state = { calls: 0, inFlight: 0 };
  const wire: AssetClient = {
    ask: async (call) => {
      state.calls += 1;
      state.inFlight += 1;
      // The ids of a call follow one another: halving keeps it so.
      const first = numberOf.get(call.ids.first ?? '') ?? 0;
      const numbers = Array.from(call.ids, (id) => numberOf.get(id) ?? 0);
      const range = { first, end: first + call.ids.length, ids: numbers };
      const { calls, inFlight: atOnce } = state;
      const reply = service({ ...range, now: clock.seconds(), atOnce, random, fresh: call.fresh === true });
      await clock.sleep(reply.ms);
      if (calls === killAt) kill();
      state.inFlight -= 1;
      if (reply.ok && weighs) {
        const lacks = new Set(reply.lacks);
        const own = [...call.ids].filter((_, n) => !lacks.has(numbers[n] ?? 0));
        const shown = [...own, ...(reply.foreign ?? []).map((number) => pool[number] ?? '')];
        if (own.length === 0 && shown.length > 0) throw foreign(shown[0]);
        const body = journal === undefined ? answered.body : answerBody(shown.map((id) => JSON.stringify({ id })));
        return { ...answered, body, latencyMs: reply.ms, records: readerOf(shown) };
      }
      if (reply.ok) return { ...answered, latencyMs: reply.ms };
      if (reply.refusal !== undefined)
        return { kind: 'refused', why: 'size', message: reply.refusal, doubtful: false, status: 413 };
      if (reply.end === 'spent') throw new AttemptError('spent', 'HTTP 402: no credits', { status: 402 });
      if (reply.end === 'key')
        throw new ExportError('notTrusted', 'refused', { why: { kind: 'refused', status: 401 } });
      if (reply.lost === true) throw new AttemptError('transport', 'reset', { why: 'connection', lost: true });
      if (reply.inWords === true) throw new AttemptError('refusal', 'error -32000: boom', { status: 200, why: 'rpc' });
      throw new AttemptError(reply.trouble ?? 'transport', 'HTTP 503: no', { status: 503, waitMs: reply.waitMs });
    },
  };
  const events: ClientEvent[] = [];
  const brake = new Brake({ overrun });
  brake.begin({ idsPerCall, planned: Math.ceil(ids / idsPerCall) });
  const stop = new AbortController();
  const kept: AnswerJournal = {
    find: (key) => Promise.resolve(journal?.get(key)?.body),
    append: (entry) => Promise.resolve(void journal?.set(entry.key, entry)),
  };
  const created = createClient({
    url: 'http://service.invalid',
    apiKey: 'key',
    concurrency,
    retries,
    timeoutMs: 60_000,
    clock,
    random,
    budget: { creditsPerCall: 160, whenSpent: 'stop' },
    brake,
    ledger: createMemoryLedger(),
    journal: kept,
    openWire: () => ({ ...wire, close: () => Promise.resolve() }),
    listener: (event) => events.push(event),
    stop: stop.signal,
  });
  const lanes = threads === 1 ? [created.client] : [laneOf(created, wire, kept), laneOf(created, wire, kept)];
  const seconds = lanes.map((client) =>
    weighs
      ? new SecondAnswers({
          client,
          desk: created.absence,
          journal: kept,
          flags: noFlags,
          reader: () => readerOf([]),
          idsPerCall,
        })
      : undefined,
  );
  const failed: number[] = [];
  const missing: number[] = [];
  let invented = 0;
  async function run(): Promise<void> {
    const all = poolOf(ids);
    const found = mapOrdered(inCalls(ids, idsPerCall), {
      limit: 4 * (mostAtOnce(concurrency) + 4),
      onLeft: () => {
        stop.abort(new Error('left'));
      },
      map: async ({ start, end, batch }) => {
        const client = lanes[batch % lanes.length] ?? created.client;
        const list = IdList.of(all.slice(start, end));
        const asked = {
          ids: list,
          flags: noFlags,
          part: 0,
          singles: false,
          reader: weighs ? () => readerOf([]) : undefined,
          seconds: seconds[batch % lanes.length],
        };
        return { start, ...(await lookUpBatch(client, asked)) };
      },
    });
    for await (const { start, lookups } of found) {
      for (let place = 0; place < lookups.length; place += 1) {
        const { kind, reason } = lookups.noRecord(place);
        if (lookups.records(place) !== undefined) continue;
        if (kind === 'missing') missing.push(start + place);
        if (kind === 'failed') failed.push(start + place);
        else if (reason !== 'not in the answer') invented += 1;
      }
    }
  }
  const end = await clock.runUntil(Promise.race([killed, Promise.allSettled([run()]).then(([ended]) => ended)]));
  if (end === 'killed')
    return {
      exit: -1,
      calls: state.calls,
      failed: [],
      missing: [],
      invented: 0,
      seconds: clock.seconds(),
      events,
      error: undefined,
    };
  await clock.runUntil(created.close());
  const error = end.status === 'rejected' ? (end.reason as Error) : undefined;
  if (error !== undefined && !(error instanceof ExportError)) throw error;
  const { calls } = state;
  return { exit: error?.exitCode ?? 0, calls, failed, missing, invented, seconds: clock.seconds(), events, error };
}

function foreign(shows: string | undefined): AttemptError {
  return new AttemptError('transport', 'the answer belongs to another call', { status: 200, foreign: true, shows });
}

/** The records of an answer, as far as lookups read them. */
function readerOf(shown: readonly string[]): ElementReader {
  const ids = [...shown];
  return {
    get count() {
      return ids.length;
    },
    read: () => -1,
    add: ({ id }) => void ids.push(id as string),
    id: (record) => ids[record] ?? '',
    hasId: (record, list, place) => place < list.length && ids[record] === list.at(place),
    release: () => undefined,
  };
}

/** A thread's side of the policies, over messages that take a turn of the event loop. */
function laneOf(created: CreatedClient, wire: AssetClient, journal: AnswerJournal): AssetClient {
  const around = (kept: AssetClient): AssetClient => {
    const lane = remoteClient(kept, async ({ id, ids, pieceOf, repeats }) => {
      await Promise.resolve();
      return created.askUnderPolicies({
        ids,
        pieceOf,
        repeats,
        send: (fresh) => lane.send(id, fresh),
        sendAlone: (which, fresh) => lane.sendAlone(id, which, fresh),
      });
    });
    return lane;
  };
  const onHint = (hint: KeptHint): void => {
    created.hint(hint);
  };
  return journaled(wire, around, { journal, onHint });
}

async function* inCalls(ids: number, size: number) {
  for (let start = 0; start < ids; start += size) {
    yield await Promise.resolve({ start, end: Math.min(ids, start + size), batch: start / size });
  }
}

/** Numbers from 0 up to 1 (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

export type Draw = <Value>(values: readonly Value[]) => Value;

/** Draws from lists by a seed. */
export function drawing(seed: number): Draw {
  const random = seeded(seed);
  return (values) => {
    const value = values[Math.floor(random() * values.length)];
    if (value === undefined) throw new Error('nothing to draw from');
    return value;
  };
}

interface Sleeper {
  readonly atMs: number;
  readonly order: number;
  readonly wake: () => void;
}

const beganMs = Date.UTC(2026, 2, 14, 9);
/** No run lasts longer: it hangs. */
const mostSeconds = 24 * 3600;

/** A clock that jumps to the next end of a sleep as soon as nothing else is to be done. */
class VirtualClock implements Clock {
  #nowMs = beganMs;
  #order = 0;
  readonly #sleepers: Sleeper[] = [];

  now(): number {
    return this.#nowMs;
  }

  monotonic(): number {
    return this.#nowMs;
  }

  seconds(): number {
    return (this.#nowMs - beganMs) / 1000;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted === true) {
        reject(signal.reason as Error);
        return;
      }
      const onAbort = (): void => {
        const at = this.#sleepers.indexOf(sleeper);
        if (at >= 0) this.#sleepers.splice(at, 1);
        reject(signal?.reason as Error);
      };
      const wake = (): void => {
        signal?.removeEventListener('abort', onAbort);
        resolve();
      };
      this.#order += 1;
      const sleeper: Sleeper = { atMs: this.#nowMs + Math.max(0, ms), order: this.#order, wake };
      let at = this.#sleepers.length;
      while (at > 0 && (this.#sleepers[at - 1]?.atMs ?? 0) < sleeper.atMs) at -= 1;
      while (at > 0 && this.#sleepers[at - 1]?.atMs === sleeper.atMs) at -= 1;
      this.#sleepers.splice(at, 0, sleeper);
      signal?.addEventListener('abort', onAbort, { once: true });
    });
  }

  async runUntil<T>(work: Promise<T>): Promise<T> {
    const state = { isDone: false };
    const end = (): void => {
      state.isDone = true;
    };
    work.then(end, end);
    for (;;) {
      await new Promise<void>((resolve) => setImmediate(resolve));
      if (state.isDone) return work;
      const next = this.#sleepers.pop();
      if (next === undefined) throw new Error('Nothing sleeps and the work is not done: it hangs.');
      this.#nowMs = Math.max(this.#nowMs, next.atMs);
      if (this.seconds() > mostSeconds) throw new Error('The run does not end.');
      next.wake();
    }
  }
}
