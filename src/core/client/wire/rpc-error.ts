import { ExactNumber, isJsonObject, parseJson, type Json } from '../../../lib/json/json.ts';

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
