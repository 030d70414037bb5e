import type { RpcError } from './rpc-error.ts';

/**
 * What an answer that is no success means:
 * - `transient`, `throttled`, `doubtful`, `spent`: see `AttemptFailure`
 * - `periodSpent`: the credits of the provider's own period, a month for example, are gone
 * - `keyRefused`: the key is wrong or not allowed; nothing more is sent
 * - `size`, `id`, `notFound`: a definite refusal of this call, see `RefusedAnswer`
 * - `elsewhere`: the address does not speak this interface
 */
export type ErrorClass =
  | 'transient'
  | 'throttled'
  | 'doubtful'
  | 'spent'
  | 'periodSpent'
  | 'keyRefused'
  | 'size'
  | 'id'
  | 'notFound'
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

/** A rule holds when everything it names does; the first that holds decides. */
interface Rule {
  readonly is: ErrorClass;
  readonly statuses?: readonly number[];
  /** Lowest and highest status. */
  readonly statusRange?: readonly [number, number];
  readonly codes?: readonly number[];
  /** Any code but these, or none. */
  readonly otherCodes?: readonly number[];
  readonly events?: readonly number[];
  readonly words?: RegExp;
  /** True: the words count in a body that holds no JSON-RPC error too. */
  readonly inText?: true;
  /** Words that must not occur. */
  readonly noWords?: RegExp;
  readonly retryAfter?: true;
  /** The error itself says how long to wait. */
  readonly backoff?: true;
  /** True: only with a JSON-RPC error in the body; false: only without. */
  readonly rpc?: boolean;
}

/** "Deadline exceeded" and "took too long" are no sizes; "at most 100 ids at a time" is one. */
const ofTime = /(?<!\bat (?:a|(?:any )?one) )\btime\b|\btimeouts?\b|\btimed\b|\bdeadline\b|\btook too long\b/i;

/** What a call or its answer has many of. */
const ofSize =
  /\b(?:ids|keys|pubkeys|addresses|mints|assets|accounts|items|elements|entries|records|results|array|list|batch|response|size)\b/i;

/** What a service in trouble has too many of, or too much, itself: none of it is asked for by a call. */
const ofService =
  /\b(?:connections?|retries|attempts|memory|heap|pool|queue|threads|workers|files|locks|transactions)\b/i;

/** Words of a limit, whatever of. */
const limits = /too (?:many|large|big)|limited to|exceed|at most|more than|\bmax(?:imum)?\b|limit of|batch size/i;

/** Limits that are not of the number of ids: of the time, of the pace, of the characters of an id, or a parameter of this name. */
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

// Forms and their sources: the documents of the providers of these two methods, and jsonrpsee's error codes
// (-32007 and -32701 request too big, -32008 and -32702 response too big).
const rules: readonly Rule[] = [
  {
    is: 'periodSpent',
    statuses: [200, 402, 403, 429],
    words: /\bmonthly\b|\bper month\b|\bbilling (?:period|cycle)\b|\bmax(?:imum)? usage reached\b/i,
    inText: true,
  },
  { is: 'spent', statuses: [402] },
  { is: 'spent', events: [-33000] },
  {
    is: 'spent',
    statuses: [200, 403, 429],
    words: /\bdaily\b|\bper day\b|credits? (?:are |is )?(?:exhausted|used up|spent)|out of credits/i,
    inText: true,
  },
  { is: 'keyRefused', statuses: [401, 403] },
  { is: 'throttled', statuses: [429] },
  { is: 'throttled', events: [-33200, -33300] },
  { is: 'throttled', codes: [-32012, -32029, 429] },
  {
    is: 'throttled',
    statuses: [200, 429],
    words: /\d ?\/ ?s(?:ec(?:ond)?)?\b|\brequest limit reached\b|\brps\b/i,
    inText: true,
  },
  { is: 'throttled', words: /too many requests|rate limit|request rate|throughput limit|throttl/i },
  { is: 'throttled', statuses: [503], retryAfter: true },
  // Parameters whose form is wrong: neither an id nor the number of ids is to blame.
  {
    is: 'doubtful',
    statuses: [200, 400, 422],
    codes: [-32600, -32602],
    words:
      /\binvalid type\b|\b(?:unknown|unexpected|missing) (?:field|member|property|param|key)|\bexpected (?:an? |one |two )?(?:object|map|struct|array|sequence|tuple|string)\b|\btoo (?:few|many) (?:params|parameters|arguments)\b/i,
    noWords: /\bat most\b|\bmax|\bexceed|\binvalid length\b/i,
  },
  { is: 'transient', codes: [-32050] },
  { is: 'size', statuses: [413] },
  { is: 'size', codes: [-32007, -32008, -32701, -32702] },
  { is: 'throttled', words: /\bper (?:second|minute|hour)\b|\bconcurrent (?:requests|calls|connections)\b/i },
  {
    is: 'throttled',
    words:
      /\b(?:requests|calls|connections)\b(?:\W+\w+){0,5}?\W+(?:at (?:a|(?:any )?one|the same) time|in[- ]flight|in parallel)\b/i,
    noWords: ofSize,
  },
  { is: 'throttled', backoff: true },
  // The older form of a spent second.
  { is: 'throttled', codes: [-32005], words: /^limit exceeded\W*$|\bcredits?\b.*\bexceed/i, noWords: ofSize },
  { is: 'elsewhere', statusRange: [300, 399] },
  { is: 'elsewhere', statuses: [404, 405, 407, 410], rpc: false },
  { is: 'elsewhere', statuses: [501] },
  { is: 'id', words: /pubkey validation|base ?58|wrong ?size/i },
  // A service in trouble speaks of what it cannot reach: only where it names the request's parameters are its words heeded.
  { is: 'transient', statusRange: [500, 599], otherCodes: [-32602] },
  { is: 'transient', statusRange: [500, 599], words: /not ?found|no such asset/i },
  { is: 'elsewhere', codes: [-32601, -32700] },
  {
    is: 'keyRefused',
    words:
      /\bapi[ -]?key\b|project id|authenticat|unauthori[sz]ed|account (?:is )?disabled|not have permission|access denied/i,
  },
  { is: 'size', codes: [-32600, -32602, -32005], words: limits, noWords: ofTime },
  // Behind any other code a service may speak of its own limits: a size that is none would make all further calls smaller.
  {
    is: 'size',
    words: new RegExp(`^(?=[^]*(?:${ofSize.source}))[^]*(?:${limits.source})`, 'i'),
    noWords: new RegExp(`${ofTime.source}|${ofService.source}`, 'i'),
  },
  // Words that say enough only of parameters that are wrong: a size that is none would make all further calls smaller.
  { is: 'size', codes: [-32602], words: /(?<!["'`])\blimit\b(?!["'`])/i, noWords: otherLimit },
  {
    is: 'size',
    codes: [-32602],
    words: /(?<!\b(?:must|should|to) be )greater than (?!0)|less than or equal to [1-9]|(?:<=|≤) ?[1-9]/i,
    noWords: otherLimit,
  },
  {
    is: 'size',
    codes: [-32602],
    words: /\bup to \d[\d,_]* (?:\w+ ){0,2}(?:ids|keys|pubkeys|addresses|mints|assets|accounts|items|elements)\b/i,
    noWords: otherLimit,
  },
  {
    is: 'size',
    codes: [-32602],
    words: /(?:["']\]|\b(?:ids|keys|array|list|batch):?) (?:is |are )?too long/i,
    noWords: otherLimit,
  },
  { is: 'notFound', words: /(?:asset|record|account|mint|token)s?\b.{0,40}\bnot found|RecordNotFound|no such asset/i },
  // An id is 32 to 44 characters long.
  { is: 'notFound', words: /\b[1-9A-Z]{32,44}\b.{0,20}\bnot found/i },
  { is: 'notFound', codes: [-32004] },
  {
    is: 'id',
    words: /invalid .{0,20}\b(?:ids?|pub ?keys?|public keys?|address|mint)\b|not a valid (?:id|pub|public|address)/i,
  },
  { is: 'transient', statusRange: [500, 599] },
  { is: 'transient', statuses: [408, 425] },
  { is: 'doubtful', rpc: true },
  { is: 'doubtful', statusRange: [400, 499] },
];

/** What an answer means that carries an error, or a status other than 200. What no rule knows is `transient`. */
export function classifyError(form: ErrorForm): ErrorClass {
  return rules.find((rule) => holds(rule, form))?.is ?? 'transient';
}

/** Words of a doubtful error that promise an end: then every retry is worth its credits. */
export function promisesAnEnd(words: string): boolean {
  return /time(?:d)? ?-?out|temporar|overload|unavailable|try again|connection|busy/i.test(words);
}

function holds(rule: Rule, { status, error, text, hasRetryAfter }: ErrorForm): boolean {
  const words = error?.words ?? (rule.inText === true && text !== '' ? text : undefined);
  return (
    (rule.statuses === undefined || rule.statuses.includes(status)) &&
    (rule.statusRange === undefined || (status >= rule.statusRange[0] && status <= rule.statusRange[1])) &&
    (rule.codes === undefined || (error?.code !== undefined && rule.codes.includes(error.code))) &&
    (rule.otherCodes === undefined || error?.code === undefined || !rule.otherCodes.includes(error.code)) &&
    (rule.events === undefined || (error?.event !== undefined && rule.events.includes(error.event))) &&
    (rule.words === undefined || (words !== undefined && rule.words.test(words))) &&
    (rule.noWords === undefined || error === undefined || !rule.noWords.test(error.words)) &&
    (rule.retryAfter === undefined || hasRetryAfter) &&
    (rule.backoff === undefined || error?.backoffSeconds !== undefined) &&
    (rule.rpc === undefined || rule.rpc === (error !== undefined))
  );
}
