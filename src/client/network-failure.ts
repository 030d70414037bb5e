import { codeOf, messageOf } from '../lib/export-error.ts';
import { AttemptError } from './attempt-error.ts';
import { cleanMessage, type Scrub } from './clean-message.ts';
import { BodyTooLong, BodyUndecodable } from './read-body.ts';

/** Codes of errors that come before a byte of the request is sent: no connection, no address, no trust. */
const unsentCodes = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EAI_NODATA',
  'UND_ERR_CONNECT_TIMEOUT',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'CERT_HAS_EXPIRED',
  'ERR_TLS_CERT_ALTNAME_INVALID',
]);

/** What an error of the HTTP library means: always worth another attempt. Its texts may carry the address, so they are cleaned. */
export function networkFailure(error: unknown, scrub: Scrub): AttemptError {
  const code = codeOf(error);
  const unsent = code !== undefined && unsentCodes.has(code);
  const text = cleanMessage(messageOf(error), scrub);
  const named = code === undefined || text.includes(code) ? text : `${text} (${code})`;
  // A new error as the cause: the original holds the socket, and may hold the path that ends with the key.
  const cause = new Error(named);
  const body = error instanceof BodyTooLong || error instanceof BodyUndecodable;
  return new AttemptError('transient', body ? text : `connection failed: ${named}`, { unsent, cause });
}
