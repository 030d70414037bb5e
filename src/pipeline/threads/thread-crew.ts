import type { CreatedClient } from '../../client/create-client.ts';
import type { Journal } from '../../store/journal.ts';
import type { ExportContext } from '../export-context.ts';
import { NobodyWaits } from '../fetch-batches.ts';
import type { FinishedPart } from '../write-parts.ts';
import type { Stretch } from './cut-stretches.ts';
import { SharedAnswers } from './shared-answers.ts';
import type { Bench, Desk, HandedStretch, StartThread, ThreadSettings } from './offers.ts';
import { packError, unpackError } from './packed-error.ts';
import { Peer } from './peer.ts';

export interface CrewRequest {
  readonly stretches: AsyncGenerator<Stretch, void, void>;
  readonly client: Pick<CreatedClient, 'client' | 'askUnderPolicies' | 'learnSize'>;
  readonly journal: Pick<Journal, 'find' | 'nextThread'>;
  /** The same for every thread, but for its numbers. */
  readonly settings: Omit<ThreadSettings, 'thread' | 'journalNumber'>;
  readonly most: number;
  readonly start: StartThread;
  readonly context: Pick<ExportContext, 'abort' | 'listener'>;
  /** Aborted: nothing new begins. */
  readonly stop: AbortSignal;
  readonly halt: (reason: unknown) => void;
}

/** Stretches a thread may be ahead of what is committed: what is made out of order stays in bounds. */
const stretchesAThread = 3;

/** Has stretches made by threads, and yields their parts in order. */
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
  /** The parts of each stretch that was handed out, in order, less those that were yielded. */
  readonly #handed: number[][] = [];
  readonly #failures: Error[] = [];
  readonly #shared: SharedAnswers;
  #started = 0;
  #next: Promise<Stretch | undefined>;
  /** Stretches are handed out one after another. */
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
    this.#shared = new SharedAnswers(request.client.client, request.settings.job.service);
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

  /** Resolves when no thread is left: what was in flight is kept. */
  async dismiss(): Promise<void> {
    const request = this.#request;
    if (this.#peers.size > 0) request.halt(new NobodyWaits());
    while (this.#peers.size > 0) await this.#changed;
    request.stop.removeEventListener('abort', this.#onStop);
    request.context.abort.removeEventListener('abort', this.#onAbort);
    await this.#next.catch(() => undefined);
    await request.stretches.return();
    await this.#shared.settled();
  }

  #takeFirst(): FinishedPart | undefined {
    const [stretch] = this.#handed;
    const finished = stretch?.[0] === undefined ? undefined : this.#finished.get(stretch[0]);
    if (stretch === undefined || finished === undefined) return undefined;
    this.#finished.delete(finished.part);
    stretch.shift();
    if (stretch.length === 0) this.#handed.shift();
    this.#tellChange();
    return finished;
  }

  /** Reads one stretch ahead; a thread more is worth starting when there is one more to take. */
  #pull(): Promise<Stretch | undefined> {
    const { stretches, most, stop } = this.#request;
    const next = stretches.next().then((result) => (result.done === true ? undefined : result.value));
    next.then(
      (stretch) => {
        if (stretch?.shared !== undefined && !stop.aborted) this.#shared.ask(stretch.shared);
        if (stretch !== undefined && this.#started < most && !stop.aborted) this.#startAnother();
      },
      (error: unknown) => {
        this.#fail(error);
      },
    );
    return next;
  }

  #nextStretch(): Promise<HandedStretch | undefined> {
    const turn = this.#turn.then(() => this.#hand());
    this.#turn = turn.catch(() => undefined);
    return turn;
  }

  async #hand(): Promise<HandedStretch | undefined> {
    const { stop, most } = this.#request;
    while (!stop.aborted && this.#handed.length >= stretchesAThread * most) await this.#changed;
    const stretch = await this.#next;
    stop.throwIfAborted();
    if (stretch === undefined) return undefined;
    if (stretch.parts.length > 0) this.#handed.push([...stretch.parts]);
    this.#next = this.#pull();
    const { parts, batches } = stretch;
    return { parts, batches };
  }

  /** The system may give no thread more (a container's limit of processes): those that there are make the same parts. */
  #startAnother(): void {
    try {
      this.#startThread();
    } catch {
      // Whoever fails to start the first one is told.
    }
  }

  #startThread(): void {
    const request = this.#request;
    this.#started += 1;
    const thread = this.#started;
    const settings = { ...request.settings, thread, journalNumber: request.journal.nextThread() };
    const { port, gone } = request.start(settings);
    const state = { hasEnded: false };
    const desk = this.#desk((callId) => peer.call('send', callId), state);
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

  #desk(send: (callId: number) => ReturnType<Bench['send']>, state: { hasEnded: boolean }): Desk {
    const { client, journal, context, halt } = this.#request;
    return {
      nextStretch: () => this.#nextStretch(),
      ask: ({ id, ids }) => client.askUnderPolicies({ ids, send: () => send(id) }),
      sharedAnswers: (from) => this.#shared.fetch(from),
      find: (key) => journal.find(key),
      learnSize: (size) => {
        client.learnSize(size);
      },
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
