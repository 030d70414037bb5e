import { codeOf, messageOf } from '../../lib/export-error.ts';
import { AttemptError } from '../attempt-error.ts';
import { cleanMessage, type Scrub } from './clean-message.ts';
import { BodyTooLong, BodyUndecodable } from './read-body.ts';

/** Codes of errors that occur before a byte of the request is sent, visible even behind a proxy. */
const unsentCodes = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EAI_NODATA',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

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

/**
 * What an error of the HTTP library means: worth another attempt, unless the certificate is wrong. Its texts may carry the
 * address, so they are cleaned.
 * @param isOfConnect the error came while connecting, before the request was sent
 */
export function networkFailure(error: unknown, scrub: Scrub, isOfConnect: boolean): AttemptError {
  const code = codeOf(error) ?? '';
  const text = cleanMessage(messageOf(error), scrub);
  const named = code === '' || text.includes(code) ? text : `${text} (${code})`;
  // A new error as the cause: the original holds the socket, and may hold the path that ends with the key.
  const cause = new Error(named);
  if (certificateCodes.has(code))
    return new AttemptError('untrusted', named, { why: 'connection', unsent: true, cause });
  if (error instanceof BodyTooLong || error instanceof BodyUndecodable)
    return new AttemptError('transport', text, { cause });
  const unsent = isOfConnect || unsentCodes.has(code);
  return new AttemptError('transport', `connection failed: ${named}`, { why: 'connection', unsent, cause });
}
