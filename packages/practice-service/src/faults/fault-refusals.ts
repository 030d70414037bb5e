import type { ServiceQuery } from '../lists/list-query.ts';
import type { Fault, FaultOf, refusalForms } from './fault-schema.ts';
import {
  dayCreditsGone,
  type HttpAnswer,
  jsonAnswer,
  keyCreditsGone,
  keyRefused,
  requestTooBig,
  secondCreditsGone,
  textAnswer,
} from '../http-answer.ts';
import { errorAnswer } from '../json-rpc.ts';

type RefusalForm = (typeof refusalForms)[number];

/** How gateways word their refusals; the sources are in docs/service.md. */
const refusals: Readonly<Record<RefusalForm, HttpAnswer>> = {
  day: dayCreditsGone,
  dayOlder: rpcRefusal(429, -32005, { message: 'daily request count exceeded, request rate limited' }),
  second: secondCreditsGone,
  secondOlder: rpcRefusal(429, -32005, {
    message: 'project ID request rate exceeded',
    data: { current_rps: 13.333, allowed_rps: 10, backoff_seconds: 30 },
  }),
  key: keyCreditsGone,
  rate: rpcRefusal(429, -32029, { message: 'Rate limit exceeded. Please try again later.' }),
  badKey: keyRefused,
  disabledKey: textAnswer(401, 'account disabled'),
  forbiddenKey: rpcRefusal(403, -32002, { message: 'rejected due to project ID settings' }),
  missingKey: rpcRefusal(403, -32600, {
    message: 'project ID is required',
    data: { reason: 'project ID not provided' },
  }),
};

/** The answer of a fault that refuses a call before it is looked at; undefined for other faults. */
export function refuse(fault: Fault, queries: readonly ServiceQuery[], nowMs: number): HttpAnswer | undefined {
  switch (fault.fault) {
    case 'status':
      return withRetryAfter({ ...statusAnswer(fault), status: fault.status }, fault, nowMs);
    case 'refusal':
      return withRetryAfter(refusals[fault.form], fault, nowMs);
    case 'redirect':
      return { status: fault.status, headers: { location: fault.location } };
    case 'cap':
      return fault.form === 'http413' && queries.some(({ ids }) => ids.length > fault.maxIds)
        ? requestTooBig
        : undefined;
    default:
      return undefined;
  }
}

export function htmlAnswer(status: number, title: string): HttpAnswer {
  const page = `<html>\r\n<head><title>${title}</title></head>\r\n<body>\r\n<center><h1>${title}</h1></center>\r\n</body>\r\n</html>\r\n`;
  return { status, headers: { 'content-type': 'text/html' }, body: Buffer.from(page) };
}

function statusAnswer({ status, body }: FaultOf<'status'>): HttpAnswer {
  if (body === 'html') return htmlAnswer(status, `${status} as the fault file says`);
  if (body === 'text') return textAnswer(status, 'upstream connect error');
  if (body === 'empty') return { status, headers: {} };
  return rpcRefusal(status, -32000, { message: 'An unexpected error occurred on the server.' });
}

function withRetryAfter(answer: HttpAnswer, fault: FaultOf<'status'> | FaultOf<'refusal'>, nowMs: number): HttpAnswer {
  const { retryAfter, retryAfterDateS } = fault;
  const value = retryAfterDateS === undefined ? retryAfter : new Date(nowMs + retryAfterDateS * 1000).toUTCString();
  return value === undefined ? answer : { ...answer, headers: { ...answer.headers, 'retry-after': String(value) } };
}

function rpcRefusal(status: number, code: number, words: { message: string; data?: unknown }): HttpAnswer {
  return jsonAnswer(status, errorAnswer('null', { code, ...words }));
}
