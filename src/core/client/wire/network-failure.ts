import { codeOf, ExportError, messageOf } from '../../../lib/export-error.ts';
import { AttemptError } from '../attempt-error.ts';
import { BodyTooLong, BodyUndecodable } from './answer-body.ts';
import { cleanMessage, type Scrub } from './clean-message.ts';

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

export interface FailureContext {
  readonly scrub: Scrub;
  /** True when a byte of the request may have left. */
  readonly sent: boolean;
  /** Ends a clause: ` through the proxy of HTTPS_PROXY`; empty where there is none. */
  readonly way: string;
}

/**
 * What an error of the HTTP library means: worth another attempt, unless a certificate is wrong. Its texts may carry the
 * address, so they are cleaned.
 */
export function networkFailure(error: unknown, { scrub, sent, way }: FailureContext): AttemptError | ExportError {
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
        facts: { sent },
      },
    );
  if (error instanceof BodyTooLong || error instanceof BodyUndecodable)
    return new AttemptError('transport', text, { cause });
  return new AttemptError('transport', `connection failed${way}: ${named}`, {
    why: 'connection',
    unsent: !sent,
    cause,
  });
}

/** OpenSSL's reason says it in few words; the message has its source files too. */
function wordsOf(error: unknown): string {
  const reason = error instanceof Error && 'reason' in error ? error.reason : undefined;
  return typeof reason === 'string' && codeOf(error)?.startsWith('ERR_SSL_') === true ? reason : messageOf(error);
}
