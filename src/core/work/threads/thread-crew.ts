import type { CreatedClient } from '../../client/create-client.ts';
import type { PartsContext } from '../parts-context.ts';
import { NobodyWaits } from '../fetch-batches.ts';
import type { FinishedPart } from '../write-parts.ts';
import type { PartGroup } from './group-parts.ts';
import type { Bench, Desk, Thread, ThreadSettings } from './offers.ts';
import { packError, unpackError } from './packed-error.ts';
import { Peer } from './peer.ts';

export interface CrewRequest {
  readonly groups: AsyncGenerator<PartGroup, void, void>;
  readonly client: Pick<CreatedClient, 'askUnderPolicies' | 'hint' | 'absence'>;
  /** Equal for every thread, except its number. */
  readonly settings: Omit<ThreadSettings, 'thread'>;
  readonly most: number;
  readonly start: (settings: ThreadSettings) => Thread;
  readonly context: Pick<PartsContext, 'abort' | 'listener'>;
  /** Aborted: nothing new begins. */
  readonly stop: AbortSignal;
  readonly halt: (reason: unknown) => void;
}

/** So many groups a thread may be ahead of the commits: this bounds the parts that wait for their turn. */
const groupsAThread = 3;

/** Has parts made by threads, and yields them in order. */
export async function* partsOfThreads(request: CrewRequest): AsyncGenerator<FinishedPart, void, void> {
  const crew = new ThreadCrew(request);
  try {
    yield* crew.parts();
  } finally {
    await crew.dismiss();
  }
}

class ThreadCrew {
  readonly #request: CrewRequest;
  readonly #peers = new Set<Peer<Bench>>();
  readonly #finished = new Map<number, FinishedPart>();
  /** The parts of each group that was handed out, in order, less those that were yielded. */
  readonly #handed: number[][] = [];
  readonly #failures: Error[] = [];
  #started = 0;
  #next: Promise<PartGroup | undefined>;
  /** Groups are handed out one after another. */
  #turn: Promise<unknown> = Promise.resolve();
  #wake: () => void = () => undefined;
  #changed: Promise<void> = Promise.resolve();
  readonly #onStop = (): void => {
    this.#tellChange();
  };
  readonly #onAbort = (): void => {
    for (const peer of this.#peers) peer.tell('abort', packError(this.#request.context.abort.reason));
  };

  constructor(request: CrewRequest) {
    this.#request = request;
    this.#tellChange();
    request.stop.addEventListener('abort', this.#onStop);
    request.context.abort.addEventListener('abort', this.#onAbort);
    this.#startThread();
    this.#next = this.#pull();
  }

  async *parts(): AsyncGenerator<FinishedPart, void, void> {
    for (;;) {
      const changed = this.#changed;
      const part = this.#takeFirst();
      if (part !== undefined) yield part;
      else if (this.#peers.size > 0) await changed;
      else break;
    }
    const cause = this.#failures.find((failure) => !(failure instanceof NobodyWaits)) ?? this.#failures[0];
    if (cause !== undefined) throw cause;
  }

  /** Resolves when every thread has ended. Answers in flight are kept. */
  async dismiss(): Promise<void> {
    const request = this.#request;
    if (this.#peers.size > 0) request.halt(new NobodyWaits());
    while (this.#peers.size > 0) await this.#changed;
    request.stop.removeEventListener('abort', this.#onStop);
    request.context.abort.removeEventListener('abort', this.#onAbort);
    await this.#next.catch(() => undefined);
    await request.groups.return();
  }

  #takeFirst(): FinishedPart | undefined {
    const [parts] = this.#handed;
    const finished = parts?.[0] === undefined ? undefined : this.#finished.get(parts[0]);
    if (parts === undefined || finished === undefined) return undefined;
    this.#finished.delete(finished.part);
    parts.shift();
    if (parts.length === 0) this.#handed.shift();
    this.#tellChange();
    return finished;
  }

  /** Reads one group ahead; another thread is worth starting when there is one more to take. */
  #pull(): Promise<PartGroup | undefined> {
    const { groups, most, stop } = this.#request;
    const next = groups.next().then((result) => (result.done === true ? undefined : result.value));
    next.then(
      (group) => {
        if (group !== undefined && this.#started < most && !stop.aborted) this.#startAnother();
      },
      (error: unknown) => {
        this.#fail(error);
      },
    );
    return next;
  }

  #nextParts(): Promise<PartGroup | undefined> {
    const turn = this.#turn.then(() => this.#hand());
    this.#turn = turn.catch(() => undefined);
    return turn;
  }

  async #hand(): Promise<PartGroup | undefined> {
    const { stop, most } = this.#request;
    while (!stop.aborted && this.#handed.length >= groupsAThread * most) await this.#changed;
    const group = await this.#next;
    stop.throwIfAborted();
    if (group === undefined) return undefined;
    this.#handed.push([...group.parts]);
    this.#next = this.#pull();
    return group;
  }

  /** The system may give no thread more (a container's limit of processes): those that there are make the same parts. */
  #startAnother(): void {
    try {
      this.#startThread();
    } catch {
      // The failure to start the first thread is reported.
    }
  }

  #startThread(): void {
    const request = this.#request;
    this.#started += 1;
    const thread = this.#started;
    const { port, gone } = request.start({ ...request.settings, thread });
    const state = { hasEnded: false };
    const desk = this.#desk(() => peer, state);
    const peer = new Peer<Bench>(port, desk);
    this.#peers.add(peer);
    const dies = (reason: unknown): void => {
      peer.close(this.#fail(reason));
    };
    gone
      .then(() => {
        if (!state.hasEnded) dies(new Error(`thread ${thread} ended before its work was done`));
      }, dies)
      .finally(() => {
        peer.close(new NobodyWaits());
        this.#peers.delete(peer);
        this.#tellChange();
      });
  }

  #desk(peer: () => Peer<Bench>, state: { hasEnded: boolean }): Desk {
    const { client, context, halt } = this.#request;
    return {
      nextParts: () => this.#nextParts(),
      ask: ({ id: callId, ...outline }) =>
        client.askUnderPolicies({
          ...outline,
          send: (fresh) => peer().call('send', { callId, fresh }),
          sendAlone: (id, fresh) => peer().call('sendAlone', { callId, id, fresh }),
        }),
      hint: (kept) => {
        client.hint(kept);
      },
      judgeAbsence: client.absence.judge,
      witnesses: client.absence.witnesses,
      secondAnswer: client.absence.second,
      settleAbsence: client.absence.settle,
      tellEvent: (event) => {
        context.listener(event);
      },
      finish: (part) => {
        this.#finished.set(part.part, part);
        this.#tellChange();
      },
      halt: (reason) => {
        halt(unpackError(reason));
      },
      end: (failure) => {
        state.hasEnded = true;
        if (failure !== undefined) this.#fail(unpackError(failure));
      },
    };
  }

  #fail(reason: unknown): Error {
    const error = reason instanceof Error ? reason : new Error(String(reason));
    this.#failures.push(error);
    this.#request.halt(error);
    return error;
  }

  #tellChange(): void {
    this.#wake();
    this.#changed = new Promise((resolve) => {
      this.#wake = resolve;
    });
  }
}
