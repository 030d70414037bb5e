import { ExportError } from '../lib/export-error.ts';
import type { AssetAnswer, AssetCall } from './asset-client.ts';
import { AttemptError } from './attempt-error.ts';
import { classifyError, promisesAnEnd } from './classify-error.ts';
import { cleanMessage, type Scrub } from './clean-message.ts';
import { MalformedAnswer, parseAnswer } from './parse-answer.ts';
import { retryAfterMs } from './retry-after.ts';
import { type RpcError, rpcErrorOfBody } from './rpc-error.ts';

/** What came over the wire: `body` is decoded from gzip. */
export interface WireAnswer {
  readonly status: number;
  readonly retryAfter: string | undefined;
  readonly body: Uint8Array;
}

export interface JudgeOptions {
  readonly scrub: Scrub;
  readonly nowMs: number;
}

/**
 * Tells what an HTTP answer means for its call.
 * @throws {AttemptError} when it is not definite: transient, throttled, doubtful or spent.
 * @throws {ExportError} `keyRefused`, or `unavailable` when the address does not speak this interface.
 */
export function judgeAnswer(answer: WireAnswer, call: AssetCall, options: JudgeOptions): AssetAnswer {
  if (answer.status !== 200) {
    const text = Buffer.from(answer.body).toString('utf8');
    return judgeError(answer, { text, error: rpcErrorOfBody(text) }, options);
  }
  const parsed = parsedOrTransient(answer.body, call);
  return parsed.kind === 'records'
    ? parsed
    : judgeError(answer, { text: parsed.error.words, error: parsed.error }, options);
}

function parsedOrTransient(body: Uint8Array, call: AssetCall): ReturnType<typeof parseAnswer> {
  try {
    return parseAnswer(body, call);
  } catch (error) {
    if (!(error instanceof MalformedAnswer)) throw error;
    // The cause is left out: a parser's message quotes the body, which may echo the request.
    throw new AttemptError('transient', error.message, { status: 200 });
  }
}

interface Said {
  readonly text: string;
  readonly error: RpcError | undefined;
}

function judgeError(answer: WireAnswer, said: Said, { scrub, nowMs }: JudgeOptions): AssetAnswer {
  const { status } = answer;
  const { error } = said;
  const headerMs = retryAfterMs(answer.retryAfter, nowMs);
  const is = classifyError({ status, error, hasRetryAfter: headerMs !== undefined });
  const words = cleanMessage(error?.words ?? said.text, scrub);
  const code = error?.code === undefined ? '' : `error ${error.code}`;
  const head = [status === 200 ? '' : `HTTP ${status}`, code].filter((part) => part !== '').join(', ');
  const message = [head, words].filter((part) => part !== '').join(': ');
  switch (is) {
    case 'size':
    case 'id':
    case 'notFound':
      return { kind: 'refused', why: is, message, doubtful: false, status };
    case 'keyRefused':
      throw new ExportError('keyRefused', `The service refuses the API key (${message}).`, {
        todo: 'Check the key file or ASSET_EXPORT_API_KEY, and that the key may use this service; then run the same command again.',
        facts: { status },
      });
    case 'elsewhere':
      throw new ExportError('unavailable', `The address does not speak this service's interface (${message}).`, {
        todo: 'Check service.url: the base address without /v3 and the key; redirects are not followed, as they would carry the key along.',
        facts: { status },
      });
    default:
      throw new AttemptError(is, message, {
        status,
        waitMs: headerMs ?? (error?.backoffSeconds === undefined ? undefined : error.backoffSeconds * 1000),
        patient: promisesAnEnd(words),
      });
  }
}
