import type { ClientListener } from '../client/client-events.ts';
import { type ClientOptions, createClient, type CreatedClient } from '../client/create-client.ts';
import type { Job } from '../job/job-schema.ts';
import { tlsFor } from '../job/tls-files.ts';
import type { PartsContext } from './parts-context.ts';

/**
 * Creates the client for the service of a job. It keeps no answers, unless the traits have a journal.
 * @param traits what differs between the clients of parts, of single assets and of lists
 */
export function clientOf(
  { service, budget }: Pick<Job, 'service' | 'budget'>,
  context: Omit<PartsContext, 'files' | 'threads' | 'listener'> & { readonly listener: ClientListener },
  traits: Pick<ClientOptions, 'onCall' | 'onFree' | 'sent' | 'sizes' | 'missingShare' | 'learnedCalls' | 'allowNone'> &
    Partial<Pick<ClientOptions, 'budget' | 'journal' | 'stop'>>,
): CreatedClient {
  const { concurrency, timeoutMs, retries, tls } = service;
  return createClient({
    ...context,
    ...context.service,
    concurrency,
    timeoutMs,
    retries,
    tls: tlsFor(context.service.url, tls),
    budget,
    journal: { find: () => Promise.resolve(undefined), append: () => Promise.resolve() },
    ...traits,
  });
}
