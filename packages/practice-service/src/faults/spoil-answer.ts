import { gzipSync } from 'node:zlib';
import type { ActiveFault } from './fault-plan.ts';
import { htmlAnswer } from './fault-refusals.ts';
import type { Fault, FaultOf } from './fault-schema.ts';
import { batchNotFound } from './spoil-elements.ts';
import type { HttpAnswer } from '../http-answer.ts';
import { internalError, resultHead } from '../json-rpc.ts';
import { backslash } from '../../../../src/lib/ascii.ts';

const missingText = `"error":${JSON.stringify(batchNotFound)}`;

const byteOrderMark = Buffer.from('\uFEFF');

/** What a fault makes of a finished answer: its bytes, its headers, or the way it travels. */
export function spoilAnswer({ fault, draw }: ActiveFault, answer: HttpAnswer): HttpAnswer {
  const body = answer.body ?? Buffer.alloc(0);
  switch (fault.fault) {
    case 'html':
      return htmlAnswer(200, 'Welcome');
    case 'body':
      return { status: fault.status, headers: { 'content-type': fault.contentType }, body: Buffer.from(fault.text) };
    case 'error':
      return { ...answer, status: fault.status };
    case 'missing':
      return body.includes(missingText) ? { ...answer, status: fault.status } : answer;
    case 'contentType':
      return { ...answer, headers: { ...answer.headers, 'content-type': fault.value } };
    case 'byteOrderMark':
      return { ...answer, body: Buffer.concat([byteOrderMark, body]) };
    case 'cut':
      return { ...answer, body: body.subarray(0, Math.min(placeIn(body, fault) ?? body.length / 2, body.length - 1)) };
    case 'malformed':
      return { ...answer, body: breakJson(body, draw) };
    case 'envelope':
      return { ...answer, body: Buffer.from(envelopes[fault.form](body.toString())) };
    case 'gzip':
      return zipped(answer, fault.cut ? half(gzipSync(body)) : gzipSync(body));
    case 'gzipBomb':
      return zipped(answer, bomb(fault.bytes));
    case 'flood':
      return { ...answer, delivery: { ...answer.delivery, floodBytes: fault.bytes } };
    default:
      return spoilDelivery(fault, answer, draw);
  }
}

/** The faults that leave the bytes as they are and change how they travel. */
function spoilDelivery(fault: Fault, answer: HttpAnswer, draw: () => number): HttpAnswer {
  const { delivery } = answer;
  switch (fault.fault) {
    case 'latency': {
      const delayMs = (delivery?.delayMs ?? 0) + fault.ms + draw() * fault.jitterMs;
      return { ...answer, delivery: { ...delivery, delayMs } };
    }
    case 'drip':
      return { ...answer, delivery: { ...delivery, drip: { bytes: fault.bytes, everyMs: fault.everyMs } } };
    case 'hang':
    case 'reset': {
      // An answer ends once: where the first such fault of the file says.
      if (delivery?.stop !== undefined) return answer;
      const end = fault.fault === 'hang' ? 'hang' : fault.clean ? 'close' : 'reset';
      return { ...answer, delivery: { ...delivery, stop: { end, afterBytes: placeIn(answer.body, fault) } } };
    }
    default:
      return answer;
  }
}

/** Bytes of the body before the place; undefined where the fault names none. */
function placeIn(
  body: Buffer | undefined,
  { afterBytes, afterShare }: FaultOf<'cut' | 'hang' | 'reset'>,
): number | undefined {
  return afterBytes ?? (afterShare === undefined ? undefined : Math.floor((body?.length ?? 0) * afterShare));
}

/** An odd number of quotes is never JSON; so one more goes in, where no backslash would escape it. */
function breakJson(body: Buffer, draw: () => number): Buffer {
  let at = Math.floor(draw() * body.length);
  while (at > 0 && body[at - 1] === backslash) at -= 1;
  return Buffer.concat([body.subarray(0, at), Buffer.from('"'), body.subarray(at)]);
}

const envelopes: Readonly<Record<FaultOf<'envelope'>['form'], (text: string) => string>> = {
  both: (text) => text.replace('{', `{"error":${JSON.stringify(internalError)},`),
  neither: () => '{"jsonrpc":"2.0","id":1}',
  bare: (text) => resultOf(text),
  wrapped: (text) => `[${text}]`,
  nullResult: () => '{"jsonrpc":"2.0","result":null,"id":1}',
  objectResult: () => '{"jsonrpc":"2.0","result":{},"id":1}',
  textResult: () => '{"jsonrpc":"2.0","result":"ok","id":1}',
};

/** The text of `result`; an answer without one stays as it is. */
function resultOf(text: string): string {
  return text.startsWith(resultHead) ? text.slice(resultHead.length, text.lastIndexOf(',"id":')) : text;
}

function zipped(answer: HttpAnswer, body: Buffer): HttpAnswer {
  return { ...answer, headers: { ...answer.headers, 'content-encoding': 'gzip' }, body };
}

function half(bytes: Buffer): Buffer {
  return bytes.subarray(0, Math.ceil(bytes.length / 2));
}

/** Gzip of that many blanks: members in a row are one valid stream, so one is packed and repeated. */
function bomb(bytes: number): Buffer {
  const memberBytes = 16 * 1024 * 1024;
  const member = gzipSync(Buffer.alloc(Math.min(bytes, memberBytes), ' '), { level: 9 });
  return Buffer.concat(Array.from({ length: Math.ceil(bytes / memberBytes) }, () => member));
}
