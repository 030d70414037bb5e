import { packError, type PackedError, unpackError } from './packed-error.ts';

/** One end of a channel between threads: a worker as its starter sees it, or a message port. */
export interface Port {
  postMessage(message: unknown): void;
  on(event: 'message', listener: (message: unknown) => void): unknown;
  off(event: 'message', listener: (message: unknown) => void): unknown;
}

/** What one end offers to the other. Arguments and results are copied, so they are plain data and bytes. */
export type Offer = Readonly<Record<string, (argument: never) => unknown>>;

type Message =
  | { readonly kind: 'call'; readonly id: number; readonly name: string; readonly argument: unknown }
  | { readonly kind: 'result'; readonly id: number; readonly result: unknown }
  | { readonly kind: 'failure'; readonly id: number; readonly error: PackedError };

/** Events wait so long, in milliseconds, for a message that is sent anyway. Progress shows no difference. */
const mentionMs = 50;

/** The number of calls without a result. */
const noId = 0;

/** Functions of another thread, called by messages. An error that they throw is thrown here, with its class. */
export class Peer<Theirs extends Offer> {
  readonly #port: Port;
  readonly #mine: Offer;
  readonly #pending = new Map<number, { resolve: (result: never) => void; reject: (error: Error) => void }>();
  readonly #onMessage = (messages: unknown): void => {
    for (const message of messages as readonly Message[]) this.#take(message);
  };
  /** What waits to be posted: several things go in one message, as waking another thread costs more than most of them. */
  #outbox: Message[] = [];
  #posting: NodeJS.Timeout | undefined;
  #lastId = noId;
  #closed: Error | undefined;

  constructor(port: Port, mine: Offer) {
    this.#port = port;
    this.#mine = mine;
    port.on('message', this.#onMessage);
  }

  /** @throws what the function throws there, or the reason why this end is closed */
  call<K extends keyof Theirs & string>(
    name: K,
    argument: Parameters<Theirs[K]>[0],
  ): Promise<Awaited<ReturnType<Theirs[K]>>> {
    return new Promise((resolve, reject) => {
      if (this.#closed !== undefined) {
        reject(this.#closed);
        return;
      }
      this.#lastId += 1;
      this.#pending.set(this.#lastId, { resolve, reject });
      this.#post({ kind: 'call', id: this.#lastId, name, argument });
    });
  }

  /** Calls a function and does not wait for it. */
  tell<K extends keyof Theirs & string>(name: K, argument: Parameters<Theirs[K]>[0]): void {
    if (this.#closed === undefined) this.#post({ kind: 'call', id: noId, name, argument });
  }

  /**
   * The same without haste: it goes with the next message, or a moment later. Until then the argument must not change.
   */
  mention<K extends keyof Theirs & string>(name: K, argument: Parameters<Theirs[K]>[0]): void {
    if (this.#closed !== undefined) return;
    this.#outbox.push({ kind: 'call', id: noId, name, argument });
    this.#posting ??= setTimeout(() => {
      this.#postAll();
    }, mentionMs);
  }

  /** Calls under way fail with the reason, as do later ones. */
  close(reason: Error): void {
    this.#closed = reason;
    clearTimeout(this.#posting);
    this.#port.off('message', this.#onMessage);
    for (const { reject } of this.#pending.values()) reject(reason);
    this.#pending.clear();
  }

  #post(message: Message): void {
    this.#outbox.push(message);
    this.#postAll();
  }

  #postAll(): void {
    clearTimeout(this.#posting);
    this.#posting = undefined;
    const messages = this.#outbox;
    this.#outbox = [];
    this.#port.postMessage(messages);
  }

  #take(message: Message): void {
    if (message.kind === 'call') {
      void this.#answer(message);
      return;
    }
    const pending = this.#pending.get(message.id);
    this.#pending.delete(message.id);
    if (message.kind === 'result') pending?.resolve(message.result as never);
    else pending?.reject(unpackError(message.error));
  }

  async #answer({ id, name, argument }: Message & { kind: 'call' }): Promise<void> {
    try {
      const result = await this.#mine[name]?.(argument as never);
      if (id !== noId && this.#closed === undefined) this.#post({ kind: 'result', id, result });
    } catch (error) {
      // No caller waits for it. Thrown here, it ends the program as a bug.
      if (id === noId) throw error;
      if (this.#closed === undefined) this.#post({ kind: 'failure', id, error: packError(error) });
    }
  }
}
