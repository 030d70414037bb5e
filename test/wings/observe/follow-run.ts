import { createMemoryLedger } from '../../../src/core/client/ledger/credit-ledger.ts';
import { loadJob } from '../../../src/core/job/load-job.ts';
import type { RunEvent } from '../../../src/core/work/run-events.ts';
import { Notices, type ObservedRun } from '../../../src/core/work/run-observer.ts';

/** Noon of a UTC day. */
export const noonMs = Date.UTC(2026, 10, 23, 12);

export const runId = '0198c0de-0000-7000-8000-000000000001';

/** A run of a job with these flags or fields, at a clock that the test moves. What it warns of is in `warnings`. */
export function followRun(fields: Readonly<Record<string, unknown>>) {
  const clock = { ms: noonMs, now: () => clock.ms, monotonic: () => clock.ms, sleep: async () => undefined };
  const warnings: string[] = [];
  const job = { ids: { from: ['/ids.txt'] }, service: { url: 'http://127.0.0.1:9' }, output: { dir: '/out/mine' } };
  const run: ObservedRun = {
    job: loadJob({ job: { ...job, ...fields }, folder: '/' }).job,
    run: runId,
    version: '1.2.3',
    clock,
    ledger: createMemoryLedger(),
    startedAtMs: noonMs,
    notices: new Notices(),
    listener: (event: RunEvent) => {
      if (event.kind === 'warning') warnings.push(event.message);
    },
  };
  return { run, clock, warnings };
}
