import { expect, onTestFinished } from 'vitest';
import { type AssetAnswer, AttemptError } from '../../../../src/core/client/asset-client.ts';
import {
  createHttpClient,
  type HttpClient,
  type HttpClientOptions,
} from '../../../../src/core/client/wire/http-client.ts';
import { serviceAddress } from '../../../../src/core/client/wire/service-address.ts';
import { ExportError } from '../../../../src/lib/export-error.ts';
import { answerBody, batchCall, idOf, recordText } from './calls.ts';
import { createFakeClock } from '../../../support/fake-clock.ts';

/** A key that must turn up nowhere; its slash shows whether it is escaped in an address. */
const canaryKey = 'canary-key/0123456789';

export const pairCall = batchCall([idOf(1), idOf(2)]);
export const pairBody = Buffer.from(answerBody(Array.from(pairCall.ids, recordText)));

/** A client of this address, whose clock stands still; it closes when the test ends. */
export function httpClient(url: string, options: Partial<HttpClientOptions> = {}): HttpClient {
  const made = createHttpClient({
    address: serviceAddress({ url, apiKey: canaryKey }),
    connections: 4,
    timeoutMs: 60_000,
    maxAnswerBytes: 1_000_000,
    clock: createFakeClock(),
    ...options,
  });
  onTestFinished(() => made.close());
  return made;
}

/** The error that a call ends with; it shows the key nowhere. */
export async function failureOf(work: Promise<AssetAnswer>): Promise<AttemptError | ExportError> {
  const error: unknown = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof AttemptError || error instanceof ExportError)) {
    throw new Error('It does not fail as it should.', { cause: error });
  }
  expect(everythingSaid(error)).not.toContain('canary');
  return error;
}

/** All that an error could show, its causes included. */
function everythingSaid(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const own = Object.getOwnPropertyNames(error).map((name) => JSON.stringify(error[name as keyof Error]));
  return [String(error), error.stack ?? '', ...own, error.cause === undefined ? '' : everythingSaid(error.cause)].join(
    '\n',
  );
}
