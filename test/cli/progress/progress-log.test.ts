import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { isTerminal } from '../../../src/cli/progress/show-progress.ts';
import { progressInLog } from '../../../src/cli/progress/progress-log.ts';
import { noCounts } from '../../../src/places/export/export-facts.ts';
import { startGeneratedService } from '../../support/service/generated-service.ts';
import { writeIdFile } from '../../support/id-file.ts';
import { runHere } from '../../support/run-here.ts';
import { tempFolder } from '../../support/temp-folder.ts';

type LogLine = Readonly<Record<string, unknown>>;

function linesOf(stderr: string): LogLine[] {
  return stderr
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as LogLine);
}

function progressOf(now: () => number = () => 0) {
  const written: LogLine[] = [];
  const progress = progressInLog(
    {
      clock: { now, monotonic: now, sleep: () => Promise.resolve() },
      idsPerCall: 100,
      rowsPerPart: 500,
      logLevel: 'info',
      budget: { creditsPerCall: 160, creditsPerRun: 16_000, whenSpent: 'stop', bookedBefore: 0 },
    },
    { run: 'uuid', export: 'mine', version: '1' },
    { write: (line) => void written.push(JSON.parse(line) as LogLine) },
  );
  return { progress, written };
}

const isoTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;

describe('where there is no terminal', () => {
  // Promise, Nothing lost: Without a terminal, stderr holds JSON lines alone; the last has the account
  it('stderr holds JSON lines alone, the last one has the account with short lists, and stdout the account', async () => {
    const folder = await tempFolder();
    const service = await startGeneratedService();
    onTestFinished(() => service.stop());
    await writeIdFile(join(folder, 'ids.txt'), { entries: 60, invalidPercent: 2 });
    const environment = { ASSET_EXPORT_API_KEY: 'key', ASSET_EXPORT_STATE: join(folder, 'state') };
    const args = ['run', '--ids', 'ids.txt', '--url', service.url, '--out', 'nights/mine', '--ids-per-call', '20'];
    const run = (...more: string[]) => runHere([...args, '--format', 'csv', ...more], { cwd: folder, environment });

    const first = await run('--credits-per-run', '320');
    expect(first.stdout).toMatch(/^nights\/mine is not complete yet: run the same command to resume\n\n {2} {2}read/);
    expect(first.stdout).toMatch(/^ {2}2 calls, 320 credits, /m);
    expect(first.stdout, 'an error is no part of the account').not.toContain('Next:');
    const stopped = linesOf(first.stderr);
    expect(stopped.at(-1)).toMatchObject({
      level: 'error',
      msg: 'export ended',
      state: 'unfinished',
      exitCode: 8,
      calls: 2,
      credits: 320,
      error: { code: 'spent', todo: expect.any(String) as string },
    });
    const { exit, stdout, stderr } = await run();
    const lines = linesOf(stderr);
    expect(exit).toBe(0);
    for (const line of lines) {
      expect(line).toMatchObject({
        level: expect.stringMatching(/^(info|warn)$/) as string,
        time: expect.stringMatching(isoTime) as string,
        run: expect.stringMatching(/^[\da-f]{8}-[\da-f]{4}-7/) as string,
        export: 'mine',
        version: expect.any(String) as string,
      });
    }
    expect(new Set([...stopped, ...lines].map(({ run: id }) => id)).size, 'each run has an id of its own').toBe(2);
    expect(lines).toContainEqual(expect.objectContaining({ msg: 'reading 2 kept answers', answers: 2 }));
    expect(lines.at(-1)).toMatchObject({
      level: 'info',
      msg: 'export ended',
      state: 'complete',
      exitCode: 0,
      callsOfRun: 1,
      calls: 3,
      credits: 480,
      read: 60,
      exported: 59,
      missing: 0,
      invalid: 1,
      duplicate: 0,
      failed: 0,
      pending: 0,
      error: null,
      next: 'asset-export verify nights/mine',
      columns: { count: 0, names: [] },
      drift: {
        count: expect.any(Number) as number,
        names: [expect.any(String), expect.any(String), expect.any(String)],
      },
      invalidSamples: { count: 1, names: [expect.stringMatching(/^ids\.txt:\d+: /)] },
    });
    expect(lines.at(-1), 'the fates stand there once').not.toHaveProperty('counts');
    const long = [first, { stderr }].flatMap((each) => each.stderr.trim().split('\n').slice(0, -1));
    expect(long.filter((line) => line.length > 400)).toEqual([]);
    expect(stdout).toMatch(/^nights\/mine is complete\n[^]*\nNext: asset-export verify nights\/mine\n$/);
    const again = await run('--json');
    expect(JSON.parse(again.stdout), 'with --json it is one object').toMatchObject({ state: 'already', exported: 59 });
    const refused = await run('--rows-per-part', '7');
    expect(refused.exit).toBe(2);
    expect(refused.stderr, 'what cannot begin is an error alone').toMatch(/^asset-export: .*\n {2}.*\n$/);
  });

  it('logs what the run believes of the service: a warning, and one line when it works again', () => {
    const { progress, written } = progressOf();
    const untilMs = Date.UTC(2026, 10, 24);
    progress.listener({
      kind: 'service',
      state: 'slowed',
      message: 'the service takes about 2 calls at once: HTTP 503',
    });
    progress.listener({ kind: 'service', state: 'probing', message: 'no answer since 09:00:00 UTC', untilMs });
    progress.listener({ kind: 'service', state: 'working', message: '' });
    progress.end();
    expect(written).toMatchObject([
      { level: 'warn', service: 'slowed', msg: 'the service takes about 2 calls at once: HTTP 503' },
      { level: 'warn', service: 'probing', until: '2026-11-24T00:00:00.000Z', msg: 'no answer since 09:00:00 UTC' },
      { level: 'info', service: 'working', msg: 'the service takes all calls again' },
    ]);
  });

  it('a pause and the time left are told as times and seconds, and an estimate as one', () => {
    vi.useFakeTimers();
    onTestFinished(() => {
      vi.useRealTimers();
    });
    let now = 0;
    const { progress, written } = progressOf(() => now);
    const pass = (seconds: number): void => {
      for (let second = 0; second < seconds; second += 1) {
        now += 1000;
        vi.advanceTimersByTime(1000);
      }
    };
    progress.listener({ kind: 'opened', inputBytes: 1000, parts: 0, answers: 0, counts: noCounts });
    progress.listener({ kind: 'paused', untilMs: Date.UTC(2026, 10, 24), reason: 'HTTP 429', concurrency: 2 });
    progress.listener({ kind: 'read', entries: 3000, inputBytes: 500 });
    for (const read of [1000, 2000]) {
      progress.listener({ kind: 'sent', ids: read });
      progress.listener({ kind: 'answered', ids: read, bytes: 5, ms: 1 });
      progress.listener({ kind: 'settled', counts: { ...noCounts, read, exported: read } });
    }
    pass(30);
    progress.listener({ kind: 'read', entries: 5000, inputBytes: 1000 });
    progress.listener({ kind: 'unrecorded', reason: 'ENOSPC' });
    pass(30);
    progress.end();
    expect(written).toMatchObject([
      { level: 'info', msg: 'export started' },
      { level: 'warn', msg: 'paused', until: '2026-11-24T00:00:00.000Z', reason: 'HTTP 429', concurrency: 2 },
      { level: 'info', msg: 'exporting', ids: 3000, idsTotal: 6000, idsTotalExact: false, etaSeconds: 30 },
      { level: 'warn', reason: 'ENOSPC' },
      { level: 'info', msg: 'exporting', ids: 3000, idsTotal: 5000, etaSeconds: 40 },
    ]);
    expect(written[4]).not.toHaveProperty('idsTotalExact');
    const ofALargeExport = {
      ...written[2],
      ...{ run: 'x'.repeat(36), export: '2026-11-24', version: '0.10.0' },
      ...{ ids: 5e7, idsTotal: 1e8, idsPerSecond: 5e4, calls: 1e5, callsInFlight: 128, callsAtOnce: 128 },
      ...{ bytesInFlight: 2 ** 25, callsHeldBack: true, creditsLeft: 1.6e7 },
      ...{ retries: 1e4, etaSeconds: 1e4 },
    };
    expect(JSON.stringify(ofALargeExport).length).toBeLessThanOrEqual(400);
    expect(written[1]).not.toHaveProperty('untilMs');
  });
});

it.each([
  [{ isTTY: true }, {}, true],
  [{ isTTY: true }, { CI: 'false', TERM: 'xterm' }, true],
  [{ isTTY: true }, { CI: '1' }, false],
  [{ isTTY: true }, { CI: 'true' }, false],
  [{ isTTY: true }, { TERM: 'dumb' }, false],
  [{}, {}, false],
])('%j with %j is a terminal: %s', (stream, environment, expected) => {
  expect(isTerminal(stream, environment)).toBe(expected);
});
