import { subscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { type EventLoopUtilization, performance } from 'node:perf_hooks';
import type { BufferPool } from '../../../lib/buffer-pool.ts';
import type { Clock } from '../../../lib/clock.ts';
import { ExportError, shortageIn } from '../../../lib/export-error.ts';
import { type AssetCall, AttemptError } from '../asset-client.ts';
import { AnswerBody } from './answer-body.ts';
import type { WireAnswer } from './judge-answer.ts';
import { networkFailure } from './classify-error.ts';
import type { ServiceAddress } from './service-address.ts';
import type { Dispatcher } from './connections.ts';

export interface ExchangeOptions extends Pick<AssetCall, 'room'> {
  readonly address: ServiceAddress;
  /** Deadline of a whole exchange, from connecting to the last byte, without the time for which its body waits for room. */
  readonly timeoutMs: number;
  /** Longest answer, decoded. */
  readonly maxAnswerBytes: number;
  readonly clock: Clock;
  readonly pool: BufferPool;
  /** Kills the exchange. */
  readonly abort?: AbortSignal | undefined;
  /** Ends a clause of a message: ` through the proxy of HTTPS_PROXY`, or nothing. */
  readonly way: string;
  /** Its connection serves no other exchange. */
  readonly fresh: boolean;
}

/**
 * Sends the body of a call and reads its answer. It ends at the deadline or when all is aborted, whatever the HTTP library does, and then
 * its connection is destroyed.
 * @throws {AttemptError} `transient` or `untrusted`; it is `unsent` when surely no byte of the request has left
 * @throws {ExportError} when the proxy refuses, something of this machine is used up, or all is aborted; where surely no byte
 * has left, its fact `sent` is false
 */
export async function exchange(
  dispatcher: Dispatcher,
  body: Uint8Array<ArrayBuffer>,
  options: ExchangeOptions,
): Promise<WireAnswer> {
  const { address, abort, clock, timeoutMs, fresh } = options;
  const one = new Exchange(options);
  const over = new AbortController();
  const onAbort = (): void => {
    one.fail(abort?.reason);
  };
  abort?.addEventListener('abort', onAbort, { once: true });
  const deadline = async (): Promise<void> => {
    let heldMs = 0;
    for (let leftMs = timeoutMs; leftMs > 0; heldMs += leftMs) {
      await clock.sleep(leftMs, over.signal);
      leftMs = one.heldMs - heldMs;
    }
    one.passDeadline();
  };
  deadline().catch(() => undefined); // The exchange ended first.
  try {
    dispatcher.dispatch(
      {
        origin: address.origin,
        path: address.path,
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json',
          'accept-encoding': 'gzip',
          ...address.headers,
        },
        body,
        reset: fresh,
      },
      one,
    );
    return await one.answer;
  } finally {
    over.abort();
    abort?.removeEventListener('abort', onAbort);
  }
}

/** Longest body of an answer other than 200 that is worth reading for its message. */
const maxErrorBytes = 65_536;

/** A thread that works so much of the time sees answers late. */
const mostBusy = 0.9;

/** Sockets that have brought an answer. */
const served = new WeakSet<Socket>();

/** Waits for the socket of the request that starts. undici tells it on a channel alone, before anything else happens. */
let departing: ((socket: Socket) => void) | undefined;
subscribe('undici:client:sendHeaders', (message) => {
  departing?.((message as { readonly socket: Socket }).socket);
  departing = undefined;
});

/** One exchange, as undici tells of it. It is settled once, by what comes first. */
class Exchange implements Dispatcher.DispatchHandler {
  readonly answer: Promise<WireAnswer>;
  readonly #options: ExchangeOptions;
  #resolve: (answer: WireAnswer) => void = () => undefined;
  #reject: (error: unknown) => void = () => undefined;
  #isOver = false;
  /** Set before the first byte of the request is written to a socket that stands. */
  #controller: Dispatcher.DispatchController | undefined;
  #head: Omit<WireAnswer, 'body'> | undefined;
  #body: AnswerBody | undefined;
  /** When the request left, and how busy this thread had been. */
  #left: { readonly ms: number; readonly loop: EventLoopUtilization } | undefined;
  /** How long the body waited for room, and since when it does. */
  #heldMs = 0;
  #heldSinceMs: number | undefined;
  #line: { readonly socket: Socket; readonly isReused: boolean; readonly bytesBefore: number } | undefined;

  constructor(options: ExchangeOptions) {
    this.#options = options;
    this.answer = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.#isOver) controller.abort(new Error('the exchange is over'));
    else {
      this.#controller = controller;
      this.#left = { ms: this.#options.clock.monotonic(), loop: performance.eventLoopUtilization() };
      departing = (socket) => {
        this.#line = { socket, isReused: served.has(socket), bytesBefore: socket.bytesRead };
      };
    }
  }

  onResponseStart(
    ...[controller, code, headers]: Parameters<NonNullable<Dispatcher.DispatchHandler['onResponseStart']>>
  ): void {
    if (this.#isOver || code < 200) return;
    // The body decides what a success means: proxies and gateways answer with 201, 203 or 206 too. 204 and 205 have none.
    const status = code < 300 && code !== 204 && code !== 205 ? 200 : code;
    if (this.#line !== undefined) served.add(this.#line.socket);
    const header = (name: string): string | undefined => [headers[name]].flat()[0];
    this.#head = { status, retryAfter: header('retry-after'), latencyMs: this.#latencyMs() };
    this.#body = new AnswerBody({
      maxBytes: status === 200 ? this.#options.maxAnswerBytes : maxErrorBytes,
      encoding: header('content-encoding'),
      length: Number(header('content-length') ?? 0),
      pool: this.#options.pool,
    });
    // undici must not pause what ends with its connection: a reset meanwhile is a bug of it.
    const isKept =
      header('connection')?.toLowerCase() !== 'close' &&
      (headers['content-length'] ?? headers['transfer-encoding']) !== undefined;
    if (status === 200 && isKept) this.#awaitRoom(controller);
  }

  /** Leaves the body in the socket until there is room for it. */
  #awaitRoom(controller: Dispatcher.DispatchController): void {
    const room = this.#options.room?.();
    if (room === undefined) return;
    controller.pause();
    this.#heldSinceMs = this.#options.clock.monotonic();
    const read = (): void => {
      this.#heldMs = this.heldMs;
      this.#heldSinceMs = undefined;
      controller.resume();
    };
    room.then(read, read);
  }

  /** How long the body has waited for room, in milliseconds. */
  get heldMs(): number {
    return this.#heldMs + (this.#heldSinceMs === undefined ? 0 : this.#options.clock.monotonic() - this.#heldSinceMs);
  }

  /** From the request to the head of its answer; undefined when this thread was too busy to see it come. */
  #latencyMs(): number | undefined {
    const left = this.#left;
    if (left === undefined || performance.eventLoopUtilization(left.loop).utilization > mostBusy) return undefined;
    return this.#options.clock.monotonic() - left.ms;
  }

  onResponseData(_: Dispatcher.DispatchController, piece: Uint8Array): void {
    this.#body?.add(piece);
  }

  onResponseEnd(): void {
    const head = this.#head;
    const body = this.#body;
    if (head === undefined || body === undefined) return;
    this.#body = undefined;
    body.end().then(
      (bytes) => {
        this.#settle(() => {
          this.#resolve({ ...head, body: bytes, heldMs: this.#heldMs });
        });
      },
      (error: unknown) => {
        this.onResponseError(undefined, error);
      },
    );
  }

  onResponseError(_: Dispatcher.DispatchController | undefined, error: unknown): void {
    const head = this.#head;
    // If the body of an error cannot be read, its status is enough.
    if (head === undefined || head.status === 200 || this.#options.abort?.aborted === true) this.fail(error);
    else
      this.#settle(() => {
        this.#resolve({ ...head, body: new Uint8Array() });
      });
  }

  passDeadline(): void {
    const { timeoutMs, way } = this.#options;
    const missing = this.#controller === undefined ? 'no connection' : 'no complete answer';
    this.#end(
      new AttemptError('transport', `${missing} within ${timeoutMs / 1000} s${way}`, {
        why: 'timeout',
        unsent: this.#controller === undefined,
      }),
    );
  }

  /** Ends it with what an error means. */
  fail(error: unknown): void {
    const { abort, address, way } = this.#options;
    const sent = this.#controller !== undefined;
    const shortage = shortageIn(error);
    if (abort?.aborted === true) this.#end(sent ? abort.reason : unsent(abort.reason));
    else if (error instanceof ExportError) this.#end(error);
    else if (shortage !== undefined)
      this.#end(
        new ExportError('cannotWrite', `The service cannot be reached: ${shortage.what}.`, {
          todo: shortage.todo,
          unsent: !sent,
        }),
      );
    else this.#end(networkFailure(error, { scrub: address.scrub, sent, way, lost: this.#isLost() }));
  }

  /** The other side forgot a connection that it had used: no byte of an answer came. */
  #isLost(): boolean {
    const line = this.#line;
    return line?.isReused === true && line.socket.bytesRead === line.bytesBefore;
  }

  #end(error: unknown): void {
    this.#settle(() => {
      this.#reject(error);
      this.#controller?.abort(new Error('the exchange is over'));
    });
  }

  #settle(settle: () => void): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#body?.drop();
    this.#body = undefined;
    settle();
  }
}

/** The reason of an abort, as the fate of a request of which surely no byte has left. */
export function unsent(reason: unknown): unknown {
  if (!(reason instanceof ExportError)) return reason;
  const { exit, message, todo, facts, why, again } = reason;
  return new ExportError(exit, message, { todo, facts, why, again, unsent: true });
}
