import type { Json } from '../../../lib/json/json.ts';
import { ExportError } from '../../../lib/export-error.ts';
import {
  type AssetAnswer,
  type AssetCall,
  type RefusedAnswer,
  AttemptError,
  type AttemptFailure,
} from '../asset-client.ts';
import { defaultDialect, type ServiceDialect } from '../dialects.ts';
import {
  classifyError,
  type ErrorClass,
  type ErrorForm,
  namesDay,
  type RpcError,
  rpcErrorOfBody,
} from './classify-error.ts';
import { cleanMessage, type Scrub } from './service-address.ts';
import {
  MalformedAnswer,
  parseAnswer,
  type ParsedAnswer,
  type ParsedError,
  type ParsedRecords,
} from './parse-answer.ts';

/** What came over the wire: `body` is decoded from gzip. */
export interface WireAnswer {
  readonly status: number;
  readonly retryAfter: string | undefined;
  readonly body: Uint8Array;
  /** See `RecordsAnswer`. */
  readonly latencyMs?: number | undefined;
  /** How long the body waited for room. */
  readonly heldMs?: number | undefined;
}

export interface JudgeOptions {
  readonly scrub: Scrub;
  readonly nowMs: number;
  readonly dialect?: ServiceDialect | undefined;
  /** Whether a response id is that of another call of this client. */
  readonly isOfAnother?: ((responseId: Json | undefined) => boolean) | undefined;
}

/** How the answer to a call is read. */
export interface AnswerReading<Parsed> {
  /** @throws {MalformedAnswer} */
  readonly parse: (body: Uint8Array, scrub: Scrub) => Parsed | ParsedError;
  /** Whether it is the answer to another call. */
  readonly isForeign: (parsed: Parsed | ParsedError, options: JudgeOptions) => boolean;
  /** The first id that it shows. */
  readonly shows?: (parsed: Parsed | ParsedError) => string | undefined;
}

/**
 * Judges what an HTTP answer means for its call for ids.
 * @throws as `judgeReading`
 */
export function judgeAnswer(answer: WireAnswer, call: AssetCall, options: JudgeOptions): AssetAnswer {
  return judgeReading<ParsedRecords>(answer, readingOf(call), options);
}

function readingOf(call: AssetCall): AnswerReading<ParsedRecords> {
  return {
    parse: (body, scrub) => parseAnswer(body, call, scrub),
    isForeign: (parsed, options) => isForeign(parsed, call, options),
    shows: (parsed) => (parsed.kind === 'error' || parsed.records?.count === 0 ? undefined : parsed.records?.id(0)),
  };
}

/**
 * Judges what an HTTP answer means for its call.
 * @throws {AttemptError} when it is not definite, or the credits are spent.
 * @throws {ExportError} `notTrusted`, or `unavailable` when the address does not speak this interface.
 */
export function judgeReading<Parsed extends { readonly kind: string }>(
  answer: WireAnswer,
  reading: AnswerReading<Parsed>,
  options: JudgeOptions,
): Parsed | RefusedAnswer {
  if (answer.status !== 200) {
    const text = Buffer.from(answer.body).toString('utf8');
    return judgeError(answer, text, rpcErrorOfBody(text), options);
  }
  const parsed = parsedAnswer(answer, reading, options);
  if (reading.isForeign(parsed, options))
    throw new AttemptError('transport', 'the answer belongs to another call', {
      status: 200,
      foreign: true,
      shows: reading.shows?.(parsed),
    });
  return isParsedError(parsed) ? judgeError(answer, parsed.error.words, parsed.error, options) : parsed;
}

function isParsedError(parsed: { readonly kind: string } | ParsedError): parsed is ParsedError {
  return parsed.kind === 'error';
}

/**
 * A connection that is off by one answer delivers only records that were not requested, or the response id of
 * another call. Another response id alone is no fault: services fill it as they like.
 */
function isForeign(parsed: ParsedAnswer, call: AssetCall, { isOfAnother = () => false }: JudgeOptions): boolean {
  if (parsed.kind === 'error') return isOfAnother(parsed.responseId);
  const isSuspect = (parsed.records?.count ?? 0) > 0 || parsed.errors.length > 0 || isOfAnother(parsed.responseId);
  return isSuspect && !holdsAskedId(parsed, call);
}

function holdsAskedId({ records, errors }: ParsedRecords, { ids }: AssetCall): boolean {
  const count = records?.count ?? 0;
  if (count > 0 && records?.hasId(0, ids, 0) === true) return true;
  const asked = new Set(ids);
  for (let record = 0; record < count; record += 1) if (asked.has(records?.id(record) ?? '')) return true;
  return errors.some(({ id }) => asked.has(id));
}

/** Longest body, in bytes, that is taken for a message. */
const mostMessageBytes = 4096;

function parsedAnswer<Parsed>(
  answer: WireAnswer,
  { parse }: AnswerReading<Parsed>,
  options: JudgeOptions,
): Parsed | ParsedError {
  try {
    return parse(answer.body, options.scrub);
  } catch (error) {
    if (!(error instanceof MalformedAnswer)) throw error;
    // Some services say in plain text, with 200, that a quota is spent or a limit reached.
    const text = messageText(answer.body);
    const form = { status: 200, error: undefined, text, hasRetryAfter: false };
    if (meaningOf(form, options.dialect) !== 'transport') judgeError(answer, text, undefined, options);
    // The cause is left out: a parser's message quotes the body, which may echo the request.
    throw new AttemptError('transport', error.message, { status: 200 });
  }
}

/** Empty for what may be a part of an answer: the words of its records say nothing about the service. */
function messageText(body: Uint8Array): string {
  const text = body.length > mostMessageBytes ? '' : Buffer.from(body).toString('utf8');
  return /"(?:jsonrpc|result)"/.test(text) ? '' : text;
}

/** @param text what the service says: the words of its error, or else the body */
function judgeError(
  { status, retryAfter }: WireAnswer,
  text: string,
  error: RpcError | undefined,
  { scrub, nowMs, dialect = defaultDialect }: JudgeOptions,
): RefusedAnswer {
  const headerMs = retryAfterMs(retryAfter, nowMs);
  const shortText = text.length > mostMessageBytes ? '' : text;
  const is = meaningOf({ status, error, text: shortText, hasRetryAfter: headerMs !== undefined }, dialect);
  const words = cleanMessage(error?.words ?? text, scrub);
  const code = error?.code === undefined ? '' : `error ${error.code}`;
  const head = [status === 200 ? '' : `HTTP ${status}`, code].filter((part) => part !== '').join(', ');
  const message = [head, words].filter((part) => part !== '').join(': ');
  switch (is) {
    case 'size':
    case 'id':
    case 'notFound':
      return { kind: 'refused', why: is, message, doubtful: false, status };
    case 'keyRefused':
      throw keyRefused(message, status);
    default:
      throw new AttemptError(failureOf[is], message, {
        status,
        ...(status === 200 && error !== undefined ? { why: 'rpc' } : {}),
        ofPeriod: is === 'periodSpent',
        waitMs: headerMs ?? (error?.backoffSeconds === undefined ? undefined : error.backoffSeconds * 1000),
        ...(is === 'forbidden' ? { atFirst: keyRefused(message, status) } : {}),
        ...(is === 'elsewhere' ? { atFirst: elsewhere(message, status, dialect) } : {}),
      });
  }
}

/** What an answer means in a dialect: its words for a spent quota come first, and only a quota of a day is renewed at midnight. */
function meaningOf(form: ErrorForm, { spentWords, quota }: ServiceDialect = defaultDialect): ErrorClass {
  const said = (form.error?.words ?? form.text).toLowerCase();
  const is = spentWords.some((words) => said.includes(words.toLowerCase())) ? 'spent' : classifyError(form);
  return is === 'spent' && quota !== 'day' && !namesDay.test(said) ? 'periodSpent' : is;
}

const failureOf: Readonly<Record<Exclude<ErrorClass, RefusedAnswer['why'] | 'keyRefused'>, AttemptFailure>> = {
  spent: 'spent',
  periodSpent: 'spent',
  pace: 'pace',
  transport: 'transport',
  refusal: 'refusal',
  forbidden: 'refusal',
  elsewhere: 'refusal',
};

function keyRefused(message: string, status: number): ExportError {
  return new ExportError('notTrusted', `The service refused the API key (${message}).`, {
    todo: 'Check the key file or ASSET_EXPORT_API_KEY, and that the key is allowed to use this service. Then run the same command again.',
    why: { kind: 'refused', status },
  });
}

function elsewhere(message: string, status: number, { name, path }: ServiceDialect): ExportError {
  // Where the key has no place in it, somebody may have written it out.
  const shown = path.includes('{key}') ? path : 'the path';
  return new ExportError('unavailable', `The address does not speak this service's interface (${message}).`, {
    todo: `Calls go to service.url followed by ${shown}, with the methods of the dialect ${name}: check both (asset-export help dialects). Redirects are not followed, because they would pass the key on.`,
    why: { kind: 'refused', status },
  });
}

/**
 * A `Retry-After` header as milliseconds from now: seconds or an HTTP date (RFC 9110, 10.2.3); a past date is 0.
 * Undefined when it is absent or not understood.
 */
export function retryAfterMs(header: string | undefined, nowMs: number): number | undefined {
  const text = header?.trim() ?? '';
  if (/^\d+(\.\d+)?$/.test(text)) return Math.round(Number(text) * 1000);
  // A date begins with a weekday; Date.parse alone would also take "-1" or "2".
  if (!/^(mon|tue|wed|thu|fri|sat|sun)/i.test(text)) return undefined;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.max(0, at - nowMs);
}
