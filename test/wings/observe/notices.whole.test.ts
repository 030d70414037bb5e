import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { createMemoryLedger } from '../../../src/core/client/ledger/credit-ledger.ts';
import { dayMs, systemClock } from '../../../src/lib/clock.ts';
import { ExportError } from '../../../src/lib/export-error.ts';
import { observeRuns } from '../../../src/wings/observe/observe-runs.ts';
import { steps } from '../../model/support/small-fleet.ts';
import { writeIdFile } from '../../support/id-file.ts';
import { MemoryBuckets } from '../../support/memory-buckets.ts';
import { runExport } from '../../support/run-export.ts';
import { startGeneratedService } from '../../support/service/generated-service.ts';
import { tempFolder } from '../../support/temp-folder.ts';
import { until } from '../../support/until.ts';

/** A receiver that notes the events of notices, and the pings of healthchecks. */
async function receiver() {
  const told: string[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (more: Buffer) => (body += more.toString()));
    request.on('end', () => {
      const path = (request.url ?? '').split('?')[0] ?? '';
      told.push(path === '/hook' ? (JSON.parse(body) as { event: string }).event : path);
      response.writeHead(200).end();
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, told };
}

it.each(['a folder', 'a bucket, each run on another machine', 'workers of a fleet'])(
  // Promise, Nothing lost: A spent day is one notification, over all runs
  'a spent day is one notice, however often the run is started again: %s',
  async (where) => {
    const folder = await tempFolder();
    const service = await startGeneratedService();
    onTestFinished(() => service.stop());
    const { url, told } = await receiver();
    await writeIdFile(join(folder, 'ids.txt'), { entries: 60 });
    const buckets = new MemoryBuckets();
    const ledger = createMemoryLedger();
    const noonMs = Date.UTC(2026, 10, 23, 12);
    const isFleet = where === 'workers of a fleet';
    let runs = 0;
    const run = async (nowMs: number, more: Readonly<Record<string, string>> = {}): Promise<string[]> => {
      told.length = 0;
      runs += 1;
      const isFolder = where === 'a folder';
      const flags = {
        ids: [join(folder, 'ids.txt')],
        url: service.url,
        format: 'csv',
        'ids-per-call': '10',
        threads: '1',
        out: isFolder ? join(folder, 'out') : 's3://bucket/out',
        'credits-per-day': '320',
        notify: `${url}/hook`,
        ...(isFolder ? {} : { scratch: join(folder, `scratch-${runs}`) }),
        ...more,
      };
      const clock = { ...systemClock, now: () => nowMs };
      const context = { clock, ledger, observe: observeRuns, openStore: buckets.openStore };
      if (isFleet && runs === 1) await runExport({ flags, context, make: steps.enqueue() });
      await runExport({ flags, context, make: isFleet ? steps.work() : undefined });
      return told;
    };
    expect(await run(noonMs)).toEqual(['waiting']);
    expect(await run(noonMs + 60_000)).toEqual([]);
    expect(await run(noonMs + 120_000)).toEqual([]);
    expect(await run(noonMs + dayMs)).toEqual(['waiting']);
    expect(await run(noonMs + dayMs + 60_000)).toEqual([]);
    // Credits of a run are not those of a day: another run may spend as many.
    if (isFleet) return;
    const limits = { 'credits-per-day': '100000', 'credits-per-run': '160' };
    expect(await run(noonMs + 2 * dayMs, limits)).toEqual(['waiting']);
    expect(await run(noonMs + 2 * dayMs, { 'credits-per-day': '100000' })).toEqual(['success']);
  },
);

it('a run that waits keeps what it reported before it ends: a kill loses nothing', async () => {
  const folder = await tempFolder();
  const service = await startGeneratedService();
  onTestFinished(() => service.stop());
  const { url, told } = await receiver();
  await writeIdFile(join(folder, 'ids.txt'), { entries: 60 });
  const stop = new AbortController();
  const ledger = createMemoryLedger();
  const run = (whenSpent: string) =>
    runExport({
      flags: {
        ids: [join(folder, 'ids.txt')],
        url: service.url,
        format: 'csv',
        'ids-per-call': '10',
        threads: '1',
        out: join(folder, 'out'),
        'credits-per-day': '320',
        'when-spent': whenSpent,
        notify: `${url}/hook`,
      },
      context: { ledger, observe: observeRuns, ...(whenSpent === 'wait' ? { stop: stop.signal } : {}) },
    });
  const waiting = run('wait');
  const record = (): Promise<string> => readFile(join(folder, 'out/.run/runs.jsonl'), 'utf8');
  // The history is written once a second.
  await until(async () => {
    expect(await record()).toContain('"kind":"told"');
  });
  expect(told).toEqual(['waiting']);
  stop.abort(new ExportError('terminated', 'stopped'));
  await waiting;
  told.length = 0;
  expect((await run('stop')).error?.exit).toBe('spent');
  expect(told).toEqual([]);
});
