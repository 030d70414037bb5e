import { ExactNumber, isJsonObject, type Json, parseJson } from '../../../lib/json/json.ts';
import { meaningOfStatus } from '../../../lib/network.ts';
import { codeOf, ExportError, messageOf } from '../../../lib/export-error.ts';
import { AttemptError } from '../asset-client.ts';
import { BodyTooLong, BodyUndecodable } from './answer-body.ts';
import { cleanMessage, type Scrub } from './service-address.ts';

/**
 * What an answer that is no success means. Definite, and harmless to believe:
 * - `spent`, `periodSpent`: the day's credits are gone, or those of the provider's own period, a month for example
 * - `keyRefused`: the key is wrong or not allowed
 * - `size`, `id`, `notFound`: a refusal of this call, see `RefusedAnswer`
 *
 * Trouble, which other attempts explain (see `Trouble`): `pace`, `transport`, `refusal`. Of these, two mean something else as long
 * as nothing was answered: `forbidden` (the key is refused) and `elsewhere` (the address does not speak this interface).
 */
export type ErrorClass =
  | 'spent'
  | 'periodSpent'
  | 'keyRefused'
  | 'size'
  | 'id'
  | 'notFound'
  | 'pace'
  | 'transport'
  | 'refusal'
  | 'forbidden'
  | 'elsewhere';

export interface ErrorForm {
  readonly status: number;
  /** The JSON-RPC error, where the body held one. */
  readonly error: RpcError | undefined;
  /** The body where it held none, when it is short enough to be a message; else empty. */
  readonly text: string;
  /** True when a `Retry-After` header was understood. */
  readonly hasRetryAfter: boolean;
}

/** A form as rules look at it. */
interface Form {
  readonly status: number;
  readonly isRpc: boolean;
  /** NaN where there is none. */
  readonly code: number;
  readonly event: number;
  /** Words of the JSON-RPC error. */
  readonly words: string;
  /** The same, or those of a body of another kind. */
  readonly text: string;
  /** The answer says how long to wait: in a header, or in the error. */
  readonly hasRetryAfter: boolean;
  readonly hasBackoff: boolean;
}

const aDay = String.raw`\bdaily\b|\bper day\b`;
/** A day, in words that leave no doubt: they outrank what a provider's dialect says of its quota. */
export const namesDay = new RegExp(String.raw`${aDay}|\btoday\b`, 'i');

/** Of a period that only the provider knows, and of a day. */
const ofPeriod = /\bmonthly\b|\bper month\b|\bbilling (?:period|cycle)\b|\bmax(?:imum)? usage reached\b/i;
const ofDay = new RegExp(`${aDay}|credits? (?:are |is )?(?:exhausted|used up|spent)|out of credits`, 'i');
const ofKey =
  /\bapi[ -]?key\b|project id|authenticat|unauthori[sz]ed|account (?:is )?disabled|not have permission|access denied/i;

const ofPace = /too many requests|rate limit|request rate|throughput limit|throttl/i;
const aSecond = /\d ?\/ ?s(?:ec(?:ond)?)?\b|\brequest limit reached\b|\brps\b/i;
const ofCallsAtOnce =
  /\bper (?:second|minute|hour)\b|\bconcurrent (?:requests|calls|connections)\b|\b(?:requests|calls|connections)\b(?:\W+\w+){0,5}?\W+(?:at (?:a|(?:any )?one|the same) time|in[- ]flight|in parallel)\b/i;
/** The older form of a spent second. */
const ofSpentSecond = /^limit exceeded\W*$|\bcredits?\b.*\bexceed/i;

/** Parameters whose form is wrong: neither an id nor the number of ids is to blame. */
const ofForm =
  /\binvalid type\b|\b(?:unknown|unexpected|missing) (?:field|member|property|param|key)|\bexpected (?:an? |one |two )?(?:object|map|struct|array|sequence|tuple|string)\b|\btoo (?:few|many) (?:params|parameters|arguments)\b/i;

/** What a call or its answer has many of. */
const ofIds =
  /\b(?:ids|keys|pubkeys|addresses|mints|assets|accounts|items|elements|entries|records|results|array|list|batch|response|size)\b/i;
const limits = /too (?:many|large|big)|limited to|exceed|at most|more than|\bmax(?:imum)?\b|limit of|batch size/i;
/** "Deadline exceeded" and "took too long" are no sizes; "at most 100 ids at a time" is one. */
const ofTime = /(?<!\bat (?:a|(?:any )?one) )\btime\b|\btimeouts?\b|\btimed\b|\bdeadline\b|\btook too long\b/i;
/** What a service in trouble has too many of itself: none of it is asked for by a call. */
const ofService =
  /\b(?:connections?|retries|attempts|memory|heap|pool|queue|threads|workers|files|locks|transactions)\b/i;
/** Words that name a size of a call only behind the code of wrong parameters. */
const sizeOfParameters =
  /(?<!["'`])\blimit\b(?!["'`])|(?<!\b(?:must|should|to) be )greater than (?!0)|less than or equal to [1-9]|(?:<=|≤) ?[1-9]|\bup to \d[\d,_]* (?:\w+ ){0,2}(?:ids|keys|pubkeys|addresses|mints|assets|accounts|items|elements)\b|(?:["']\]|\b(?:ids|keys|array|list|batch):?) (?:is |are )?too long/i;
/** Limits that are not of the number of ids: of time, pace or the characters of an id, or a parameter of this name. */
const otherLimit = new RegExp(
  [
    ofTime.source,
    String.raw`\b(?:credits?|units?|usage|quota|memory) limit\b`,
    // Of the number of requests, unless it is a limit per request, or of ids.
    String.raw`^(?!.*\b(?:ids|keys|addresses|mints|assets|accounts|items)\b).*(?<!\bper[ -])\b(?:requests?|calls?) limit\b`,
    String.raw`\b(?:characters|chars|(?:id|key|address) length)\b`,
    String.raw`\b(?:unknown|unexpected|missing) (?:field|member|property|param|key)|\b(?:is|are) required\b`,
    String.raw`\binvalid limit\b|\blimit (?:must|should|is not)\b`,
  ].join('|'),
  'i',
);

/** An id is 32 to 44 characters long. */
const ofNoAsset =
  /(?:asset|record|account|mint|token)s?\b.{0,40}\bnot found|RecordNotFound|no such asset|\b[1-9A-Z]{32,44}\b.{0,20}\bnot found/i;
/** Words of what is no more, or has nothing to show. */
const ofAbsence =
  /\b(?:asset|nft|token|mint|pubkey|id)s?\b.{0,60}\b(?:no supply|burnt|burned|closed|does not exist|do not exist)\b/i;
const ofNoKey = /pubkey validation|base ?58|wrong ?size/i;
const ofBadId =
  /invalid .{0,20}\b(?:ids?|pub ?keys?|public keys?|address|mint)\b|not a valid (?:id|pub|public|address)/i;
/** Words that promise an end: the service is in trouble, and does not refuse the form of the call. */
const ofAnEnd = /time(?:d)? ?-?out|temporar|overload|unavailable|try again|connection|busy|exhausted/i;

const isServerError = ({ status }: Form): boolean => status >= 500;
/** A service in trouble speaks of what it cannot reach: only where it names the parameters are its words heeded. */
const isDeaf = (form: Form): boolean => isServerError(form) && (form.code !== -32602 || ofNoAsset.test(form.words));

// The first rule that holds decides. Forms and their sources: the documents of the providers of these two methods, and
// jsonrpsee's error codes (-32007 and -32701 request too big, -32008 and -32702 response too big).
const rules: readonly (readonly [ErrorClass, (form: Form) => boolean])[] = [
  ['periodSpent', ({ status, text }) => [200, 402, 403, 429].includes(status) && ofPeriod.test(text)],
  ['spent', ({ status, event }) => status === 402 || event === -33000],
  ['spent', ({ status, text }) => [200, 403, 429].includes(status) && ofDay.test(text)],
  ['keyRefused', ({ status, text }) => status === 401 || (status === 403 && ofKey.test(text))],
  ['forbidden', ({ status }) => status === 403],
  ['pace', ({ status, hasRetryAfter }) => status === 429 || (status === 503 && hasRetryAfter)],
  ['pace', ({ code, event }) => [-33200, -33300].includes(event) || [-32012, -32029, 429].includes(code)],
  ['pace', ({ status, text, words }) => ofPace.test(words) || (status === 200 && aSecond.test(text))],
  [
    'refusal',
    ({ words, code }) =>
      [-32600, -32602].includes(code) &&
      ofForm.test(words) &&
      !/\bat most\b|\bmax|\bexceed|\binvalid length\b/i.test(words),
  ],
  ['size', ({ status, code }) => status === 413 || [-32007, -32008, -32701, -32702].includes(code)],
  [
    'pace',
    ({ words, hasBackoff }) =>
      hasBackoff || (ofCallsAtOnce.test(words) && (/\bper |concurrent/i.test(words) || !ofIds.test(words))),
  ],
  ['pace', ({ words, code }) => code === -32005 && ofSpentSecond.test(words) && !ofIds.test(words)],
  [
    'elsewhere',
    ({ status, isRpc }) =>
      (status >= 300 && status < 400) ||
      meaningOfStatus(status) === 'unsupported' ||
      (!isRpc && [404, 405, 410].includes(status)),
  ],
  ['id', ({ words }) => ofNoKey.test(words)],
  ['transport', isDeaf],
  ['elsewhere', ({ code }) => code === -32601 || code === -32700],
  ['keyRefused', ({ words }) => ofKey.test(words)],
  ['size', ({ words, code }) => [-32600, -32602, -32005].includes(code) && limits.test(words) && !ofTime.test(words)],
  // Behind any other code a service may speak of its own limits: a size that is none would make all further calls smaller.
  ['size', ({ words }) => ofIds.test(words) && limits.test(words) && !ofTime.test(words) && !ofService.test(words)],
  ['size', ({ words, code }) => code === -32602 && sizeOfParameters.test(words) && !otherLimit.test(words)],
  ['notFound', ({ words }) => ofNoAsset.test(words) || (ofAbsence.test(words) && !ofService.test(words))],
  ['id', ({ words }) => ofBadId.test(words)],
  ['transport', ({ status, text }) => meaningOfStatus(status) === 'busy' || ofAnEnd.test(text)],
  ['refusal', ({ status, isRpc }) => isRpc || (status >= 400 && status < 500)],
];

/** What an answer means that carries an error, or a status other than 200. What no rule knows is `transport`. */
export function classifyError({ status, error, text, hasRetryAfter }: ErrorForm): ErrorClass {
  const form: Form = {
    status,
    isRpc: error !== undefined,
    hasRetryAfter,
    hasBackoff: error?.backoffSeconds !== undefined,
    code: error?.code ?? Number.NaN,
    event: error?.event ?? Number.NaN,
    words: error?.words ?? '',
    text: error?.words ?? text,
  };
  return rules.find(([, holds]) => holds(form))?.[0] ?? 'transport';
}

/** The `error` member of a JSON-RPC answer, as far as services fill it. */
export interface RpcError {
  readonly code: number | undefined;
  /** A second number that some services send next to the code. */
  readonly event: number | undefined;
  /** `message` and `details`, joined; not yet cleaned. */
  readonly words: string;
  /** How long the service asks to wait, in seconds (`data.backoff_seconds`). */
  readonly backoffSeconds: number | undefined;
}

/** The error in a body, or undefined without one: used where the status is not 200. */
export function rpcErrorOfBody(body: string): RpcError | undefined {
  try {
    const value = parseJson(body.replace(/^\uFEFF/, ''));
    return isJsonObject(value) ? rpcError(value['error']) : undefined;
  } catch {
    return undefined; // Gateways send text and HTML: then the status alone decides.
  }
}

export function rpcError(value: Json | undefined): RpcError | undefined {
  if (!isJsonObject(value)) return undefined;
  const code = numberOf(value['code']);
  const words = [value['message'], value['details']].filter((each) => typeof each === 'string').join(': ');
  if (code === undefined && words === '') return undefined;
  const data = value['data'];
  const backoffSeconds = isJsonObject(data) ? numberOf(data['backoff_seconds']) : undefined;
  return { code, event: numberOf(value['event']), words, backoffSeconds };
}

function numberOf(value: Json | undefined): number | undefined {
  if (typeof value === 'number') return value;
  return value instanceof ExactNumber ? Number(value.text) : undefined;
}

/** Certificates that no retry makes valid: the codes of X.509 errors, see "TLS (SSL)" in the documents of Node.js. */
const certificateCodes = new Set([
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_DECRYPT_CERT_SIGNATURE',
  'UNABLE_TO_DECODE_ISSUER_PUBLIC_KEY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'CERT_SIGNATURE_FAILURE',
  'CERT_NOT_YET_VALID',
  'CERT_HAS_EXPIRED',
  'CERT_CHAIN_TOO_LONG',
  'CERT_REVOKED',
  'CERT_UNTRUSTED',
  'CERT_REJECTED',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'INVALID_CA',
  'INVALID_PURPOSE',
  'PATH_LENGTH_EXCEEDED',
  'HOSTNAME_MISMATCH',
  'ERR_TLS_CERT_ALTNAME_INVALID',
]);

export function isOfCertificate(error: unknown): error is Error {
  return certificateCodes.has(codeOf(error) ?? '');
}

/** Alerts of the other side about our own certificate (RFC 8446, 6.2), as OpenSSL names them. */
const refusedAlert = /^ERR_SSL_[\w/]+_ALERT_(?:(?:BAD_|UNSUPPORTED_)?CERTIFICATE|CERTIFICATE_\w+|UNKNOWN_CA)$/;

/**
 * What an error of the HTTP library means: worth another attempt, unless a certificate is wrong. Its texts may carry the
 * address, so they are cleaned.
 */
export function networkFailure(
  error: unknown,
  {
    scrub,
    sent,
    way,
    lost,
  }: {
    readonly scrub: Scrub;
    /** True when a byte of the request may have left. */
    readonly sent: boolean;
    /** True when a reused connection ended without a byte of the answer. */
    readonly lost?: boolean | undefined;
    /** Ends a clause: ` through the proxy of HTTPS_PROXY`; empty where there is none. */
    readonly way: string;
  },
): AttemptError | ExportError {
  const code = codeOf(error) ?? '';
  const text = cleanMessage(wordsOf(error), scrub);
  const named = code === '' || text.includes(code) ? text : `${text} (${code})`;
  // A new error as the cause: the original holds the socket, and may hold the path that ends with the key.
  const cause = new Error(named);
  if (isOfCertificate(error))
    return new AttemptError('untrusted', `${named}${way}`, { why: 'connection', unsent: !sent, cause });
  if (refusedAlert.test(code))
    return new ExportError(
      'notTrusted',
      `The service does not accept the certificate of this client${way}: ${named}.`,
      {
        todo: 'Check service.tls in the job file: cert and key must be those that the service knows. Then run the same command again.',
        unsent: !sent,
      },
    );
  if (error instanceof BodyTooLong || error instanceof BodyUndecodable)
    return new AttemptError('transport', text, { cause });
  return new AttemptError('transport', `connection failed${way}: ${named}`, {
    why: 'connection',
    unsent: !sent,
    lost,
    cause,
  });
}

/** OpenSSL's reason says it in few words; the message has its source files too. */
function wordsOf(error: unknown): string {
  const reason = error instanceof Error && 'reason' in error ? error.reason : undefined;
  return typeof reason === 'string' && codeOf(error)?.startsWith('ERR_SSL_') === true ? reason : messageOf(error);
}
