/** What goes back over HTTP. */
export interface HttpAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Absent where a status says it all. */
  readonly body?: Buffer;
  /** How a fault makes it travel; absent: at once and whole. */
  readonly delivery?: AnswerDelivery;
}

/** What happens to an answer on its way. */
export interface AnswerDelivery {
  readonly delayMs?: number;
  /** So many bytes at a time. */
  readonly drip?: { readonly bytes: number; readonly everyMs: number };
  /** Where the answer ends too early, and how: nothing more is sent, or the connection is reset or closed. */
  readonly stop?: { readonly end: 'hang' | 'reset' | 'close'; readonly afterBytes: number | undefined };
  /** Blanks that go before the body. */
  readonly floodBytes?: number;
}

export const jsonType = { 'content-type': 'application/json' } as const;
const textType = { 'content-type': 'text/plain; charset=utf-8' } as const;

/** Most bytes of a request, and of an answer: the default of public servers. */
export const capBytes = 10 * 1024 * 1024;

export function jsonAnswer(status: number, text: string): HttpAnswer {
  return { status, headers: jsonType, body: Buffer.from(text) };
}

export function textAnswer(status: number, text: string): HttpAnswer {
  return { status, headers: textType, body: Buffer.from(text) };
}

/** A key that the service does not know. */
export const keyRefused = textAnswer(401, 'invalid project id');
export const keyMissing = textAnswer(401, 'project id required in the url');
export const wrongContentType = textAnswer(415, 'Content-Type: application/json is required');

/** The day's credits are gone: until 00:00 UTC. */
export const dayCreditsGone = gatewayError(402, -33000, {
  message: 'Payment Required',
  details:
    'You have reached your daily credit limit. To continue making requests, upgrade your plan or purchase additional credits',
});

/** More credits a second than the plan allows. */
export const secondCreditsGone = gatewayError(429, -33200, {
  message: 'Too Many Requests',
  details:
    'You have surpassed your allowed throughput limit. Reduce the amount of requests per second or upgrade for more capacity.',
});

/** A limit that the user set on the key, by the second or by the day. */
export const keyCreditsGone = gatewayError(429, -33300, {
  message: 'Too Many Requests',
  details:
    'You have surpassed your user-defined key throughput limit setting. To make more requests with this key, review key setting configurations.',
});

export const requestTooBig = jsonAnswer(
  413,
  `{"jsonrpc":"2.0","error":{"code":-32007,"message":"Request is too big","data":"Exceeded max limit of ${capBytes}"},"id":null}`,
);

/** Errors of the gateway before the service: the code is the status again. */
function gatewayError(status: number, event: number, words: { message: string; details: string }): HttpAnswer {
  const error = { code: status, event, ...words };
  return jsonAnswer(status, JSON.stringify({ jsonrpc: '2.0', id: null, error }));
}
