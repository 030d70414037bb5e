import { expect, onTestFinished } from 'vitest';
import type { ClientEvent } from '../../../../src/core/client/asset-client.ts';
import { type ClientOptions, createClient } from '../../../../src/core/client/create-client.ts';
import { createMemoryLedger } from '../../../../src/core/client/ledger/credit-ledger.ts';
import { Brake } from '../../../../src/core/client/policies/brake.ts';
import { defaultOverrun, overrunOf } from '../../../../src/core/client/policies/shared-pace.ts';
import { systemClock, utcDay } from '../../../../src/lib/clock.ts';
import { certificates } from '../../../support/certificates.ts';
import { batchCall, idsOf, recordIdsOf } from './calls.ts';
import { type Forgetting, forgetfulServer } from './forgetful-server.ts';

const planned = 20;
const idsPerCall = 10;

/** An export of so many calls, eight at once, under the limit of calls that holds by default. */
export async function exportOf(url: string, calls = planned, options: Partial<ClientOptions> = {}) {
  const events: ClientEvent[] = [];
  const ledger = createMemoryLedger();
  const brake = new Brake({ overrun: overrunOf(defaultOverrun) });
  brake.begin({ idsPerCall, planned: calls });
  const created = createClient({
    url,
    apiKey: 'canary-key',
    concurrency: 8,
    timeoutMs: 60_000,
    retries: 8,
    budget: { creditsPerCall: 1, whenSpent: 'stop' },
    ledger,
    brake,
    journal: { find: () => Promise.resolve(undefined), append: () => Promise.resolve() },
    listener: (event) => events.push(event),
    tls: { ca: [certificates.valid] },
    ...options,
  });
  onTestFinished(() => created.close());
  const batches = Array.from({ length: calls }, (_, n) => idsOf(idsPerCall, n * idsPerCall));
  const answers = await Promise.all(batches.map((ids) => created.client.ask(batchCall(ids))));
  expect(answers.map(recordIdsOf)).toEqual(batches);
  const warnings = events.flatMap((event) => (event.kind === 'warning' ? [event.message] : []));
  return { events, warnings, booked: await ledger.booked(utcDay(systemClock.now())) };
}

/** All ids come, no call is sent more than twice, and the policies hear of no failure. */
export async function expectFewMore(forgetting: Forgetting): Promise<void> {
  const server = await forgetfulServer(forgetting);
  const { events, booked } = await exportOf(server.url);
  expect(events.filter(({ kind }) => kind === 'retry' || kind === 'paused' || kind === 'service')).toEqual([]);
  expect(server.mostAttempts()).toBeLessThanOrEqual(2);
  expect(server.requests()).toBe(planned + server.lost());
  expect(server.requests()).toBeLessThanOrEqual(planned + 8 + 3);
  // What was written may be charged.
  expect(booked).toBe(server.requests());
}
