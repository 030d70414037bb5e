import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Clock } from '../../../src/lib/clock.ts';
import type { AnswerDelivery, HttpAnswer } from './http-answer.ts';

export interface DeliverOptions {
  readonly clock: Clock;
  /** Aborted when the service ends. */
  readonly signal: AbortSignal;
}

/** Sends an answer the way its faults want it. Rejects only when the client or the service goes away meanwhile. */
export async function deliver(response: ServerResponse, answer: HttpAnswer, options: DeliverOptions): Promise<void> {
  const { delivery = {} } = answer;
  const gone = new AbortController();
  response.once('close', () => {
    gone.abort(new Error('the client went away'));
  });
  const signal = AbortSignal.any([options.signal, gone.signal]);
  if (delivery.delayMs !== undefined) await options.clock.sleep(delivery.delayMs, signal);
  const body = answer.body ?? Buffer.alloc(0);
  const stopBytes = delivery.stop?.afterBytes;
  if (delivery.stop === undefined || stopBytes !== undefined) {
    const bytes = body.length + (delivery.floodBytes ?? 0);
    response.writeHead(answer.status, { ...answer.headers, 'content-length': bytes });
    await sendBlanks(response, delivery.floodBytes ?? 0);
    await sendBody(response, body.subarray(0, stopBytes ?? body.length), { delivery, clock: options.clock, signal });
  }
  // Bytes and a reset that arrive together look like an orderly close to many clients.
  if (delivery.stop?.end === 'reset' && response.headersSent) await options.clock.sleep(20, signal);
  if (delivery.stop !== undefined) await stop(response, delivery.stop.end, signal);
  else response.end();
}

async function sendBody(
  response: ServerResponse,
  body: Buffer,
  { delivery, clock, signal }: { delivery: AnswerDelivery; clock: Clock; signal: AbortSignal },
): Promise<void> {
  const { bytes, everyMs } = delivery.drip ?? { bytes: body.length, everyMs: 0 };
  response.flushHeaders();
  for (let from = 0; from < body.length; from += bytes) {
    if (from > 0) await clock.sleep(everyMs, signal);
    await write(response, body.subarray(from, from + bytes));
  }
}

async function sendBlanks(response: ServerResponse, bytes: number): Promise<void> {
  const blanks = Buffer.alloc(Math.min(bytes, 1 << 20), ' ');
  for (let left = bytes; left > 0; left -= blanks.length) await write(response, blanks.subarray(0, left));
}

/** Resolves when the bytes are with the kernel, so that a reset behind them does not overtake them here. */
function write(response: ServerResponse, bytes: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    response.write(bytes, (error) => {
      if (error) reject(error);
      else resolve();
    });
  });
}

async function stop(response: ServerResponse, end: 'hang' | 'reset' | 'close', signal: AbortSignal): Promise<void> {
  if (end === 'reset') response.socket?.resetAndDestroy();
  else if (end === 'close') response.socket?.end();
  else if (!signal.aborted) await once(signal, 'abort');
}
