import { expect, it } from 'vitest';
import { createMemoryLedger } from '../../../../src/core/client/ledger/credit-ledger.ts';
import { jobSchema } from '../../../../src/core/job/job-schema.ts';
import { recordRun } from '../../../../src/core/run/history/record-run.ts';
import type { RunEvent } from '../../../../src/core/work/run-events.ts';
import {
  creditFigures,
  fetchedIds,
  lastRunOf,
  meanIdsPerSecond,
  paceOf,
  readRunLines,
} from '../../../../src/core/run/history/run-history.ts';
import { timeThroughBudget } from '../../../../src/core/run/history/run-figures.ts';
import { unfinishedRun } from '../../../../src/wings/status/run-status.ts';
import { noCounts, noNotes } from '../../../../src/places/export/export-facts.ts';
import type { RunLine } from '../../../../src/core/run/history/run-lines.ts';
import { createFakeClock } from '../../../support/fake-clock.ts';
import { MemoryDisk } from '../../../model/support/memory-disk.ts';

const job = jobSchema.parse({
  ids: { from: ['ids.txt'] },
  service: { url: 'https://service.example' },
  output: { dir: '/out' },
  budget: { creditsPerDay: 3200, whenSpent: 'wait' },
});
const dayMs = 86_400_000;
const startMs = Date.UTC(2026, 10, 23, 12);

async function openRecorder(disk = new MemoryDisk()) {
  await disk.files.makeFolder('/out/.run');
  const clock = createFakeClock(startMs);
  const ledger = createMemoryLedger();
  const events: RunEvent[] = [];
  const listener = (event: RunEvent): void => void events.push(event);
  const run = {
    files: disk.files,
    folder: '/out',
    clock,
    ledger,
    job,
    run: 'uuid',
    version: '1',
    counts: noCounts,
    listener,
  };
  return { disk, clock, ledger, events, recorder: await recordRun(run) };
}

it('a run is recorded while it works: spans, pauses, commits, what is booked, its end', async () => {
  const { disk, clock, ledger, recorder } = await openRecorder();
  await ledger.reserve({ day: '2026-11-23', credits: 320 });
  const lookAfter = async (ms: number): Promise<RunLine[]> => {
    await clock.runUntil(clock.sleep(ms));
    return readRunLines(disk.files, '/out');
  };
  recorder.listener({ kind: 'read', entries: 1000, inputBytes: 100 });
  for (const ms of [400, 2000]) {
    recorder.listener({ kind: 'sent', ids: 100 });
    recorder.listener({ kind: 'answered', ids: 100, bytes: 5, ms });
  }
  const first = await lookAfter(200);
  expect(first).toMatchObject([
    { kind: 'run', n: 1, run: 'uuid', startMs, creditsPerDay: 3200 },
    { kind: 'span', t: 0, ids: 200, sent: 2, answered: 2, bytes: 10, booked: 320, callMs: { 0.5: 1, 2.5: 1 } },
  ]);
  expect(first[1], 'how long calls took').toMatchObject({ tookMs: 2400, longestMs: 2000 });
  expect(await lookAfter(60_000), 'nothing happens, nothing is written').toEqual(first);
  recorder.listener({
    kind: 'paused',
    untilMs: startMs + 70_000,
    reason: `HTTP 503 ${'x'.repeat(500)}`,
    concurrency: 4,
  });
  const commit = {
    part: 0,
    counts: { ...noCounts, read: 150, exported: 140, missing: 10 },
    files: [],
    drift: [],
    notes: noNotes,
    inputBytes: 1,
  };
  recorder.listener({ kind: 'committed', commit });
  await recorder.end({ state: 'stopped', exit: 8, error: 'spent' });
  const lines = await readRunLines(disk.files, '/out');
  expect(lines.slice(2)).toMatchObject([
    { kind: 'span', t: 60_200, ids: 0 },
    { kind: 'paused', heldMs: 9800, reason: expect.stringMatching(/^HTTP 503 x+…$/) as string },
    { kind: 'committed', part: 0, exported: 140 },
    { kind: 'end', state: 'stopped', exit: 8, error: 'spent' },
  ]);
  expect(JSON.stringify(lines[3]).length).toBeLessThan(250);
  expect(fetchedIds(lines, commit.counts)).toBe(50);
  expect(disk.openFiles).toBe(0);
});

it('what the run believes of the service is recorded, and shown while a process runs', async () => {
  const { disk, clock, recorder } = await openRecorder();
  const statusWhere = async (isHeld: boolean) => {
    await clock.runUntil(clock.sleep(200));
    const last = lastRunOf(await readRunLines(disk.files, '/out'));
    return unfinishedRun(last, { isHeld, done: 0, inputBytes: 100, creditsLeft: null, nowMs: clock.now() });
  };
  expect(await statusWhere(true)).toMatchObject({ service: 'working', serviceMessage: null });
  const message = 'the service takes about 2 calls at once: HTTP 503';
  recorder.listener({ kind: 'service', state: 'searching', message: 'one of 4 ids makes the service fail' });
  recorder.listener({ kind: 'service', state: 'slowed', message });
  expect(await statusWhere(true)).toMatchObject({ state: 'running', service: 'slowed', serviceMessage: message });
  expect(await statusWhere(false), 'of a run that was killed').not.toHaveProperty('service');
  recorder.listener({ kind: 'service', state: 'working', message: '' });
  expect(await statusWhere(true)).toMatchObject({ service: 'working', serviceMessage: null });
  recorder.listener({ kind: 'service', state: 'probing', message: `no answer: ${'x'.repeat(500)}` });
  await recorder.end({ state: 'stopped', exit: 5 });
  expect(await statusWhere(false)).not.toHaveProperty('service');
  expect(await statusWhere(true), 'of the next run, which has not begun').toMatchObject({ service: 'working' });
  const kept = (await readRunLines(disk.files, '/out')).filter((line) => line.kind === 'service');
  expect(kept.map(({ state }) => state)).toEqual(['searching', 'slowed', 'working', 'probing']);
  expect(kept.at(-1)?.message).toMatch(/^no answer: x+…$/);
});

// Promise, Nothing lost: A cut or unwritable run history fails no run
it('a notice that is delivered while lines are written is in the record soon, though nothing happens after it', async () => {
  const { disk, clock, recorder } = await openRecorder();
  const untilMs = startMs + dayMs;
  let delivered: Promise<void> | undefined;
  disk.weather = () => {
    delivered ??= recorder.told(untilMs);
    return { kind: 'happens' };
  };
  await clock.runUntil(clock.sleep(2000));
  expect(await readRunLines(disk.files, '/out')).toMatchObject([{ kind: 'run' }, { kind: 'told', untilMs }]);
});

it('a record that cannot be written is reported once, and the run goes on', async () => {
  const disk = new MemoryDisk();
  const { clock, events, recorder } = await openRecorder(disk);
  disk.weather = () => ({ kind: 'fails', code: 'ENOSPC' });
  for (let second = 0; second < 3; second += 1) {
    recorder.listener({ kind: 'sent', ids: 1 });
    await clock.runUntil(clock.sleep(1000));
  }
  expect(events).toMatchObject([{ kind: 'unrecorded', reason: expect.stringContaining('ENOSPC') as string }]);
  await recorder.end({ state: 'complete', exit: 0 });
  expect(disk.openFiles).toBe(0);
});

it('what a run resumes with counts as fetched, and is corrected by what it finds kept', async () => {
  const { disk, recorder } = await openRecorder();
  recorder.listener({ kind: 'answered', ids: 300, bytes: 1, ms: 1 });
  await recorder.end({ state: 'stopped', exit: 5 });
  const next = await openRecorder(disk);
  await next.clock.runUntil(next.clock.sleep(1));
  const begun = await readRunLines(disk.files, '/out');
  expect(lastRunOf(begun)?.start).toMatchObject({ n: 2, fetched: 300 });
  expect(fetchedIds(begun, noCounts)).toBe(300);
  next.recorder.listener({ kind: 'replayed', ids: 400 });
  next.recorder.listener({ kind: 'answered', ids: 100, bytes: 1, ms: 1 });
  await next.recorder.end({ state: 'stopped', exit: 5 });
  expect(fetchedIds(await readRunLines(disk.files, '/out'), { ...noCounts, exported: 450 })).toBe(50);
});

it('speed, credits and the time left come from the last run', async () => {
  const { disk, clock, ledger, recorder } = await openRecorder();
  await ledger.reserve({ day: '2026-11-23', credits: 1600 });
  await clock.runUntil(clock.sleep(10_000));
  recorder.listener({ kind: 'answered', ids: 10_000, bytes: 1, ms: 1 });
  await clock.runUntil(clock.sleep(2000));
  const last = lastRunOf(await readRunLines(disk.files, '/out'));
  if (last === undefined) throw new Error('nothing is recorded');
  const nowMs = startMs + 20_000;
  expect(meanIdsPerSecond({ start: last.start, work: last.work, endedMs: nowMs })).toBe(500);
  expect(creditFigures([last], { live: last, nowMs })).toEqual({ today: 1600, left: 1600 });
  expect(creditFigures([last], { live: last, nowMs: nowMs + dayMs })).toEqual({ today: 0, left: 3200 });
  const ahead = { ...last.start, ids: 10_000, workMs: 20_000, creditsLeft: 1600 };
  expect(timeThroughBudget(ahead, nowMs)).toEqual({ ends: 'ids', ms: 20_000, moreDays: 0 });
  // 10 calls today, 20 tomorrow, 5 on the day after.
  const twelveHours = dayMs / 2;
  const more = { ...ahead, ids: 35_000, workMs: 70_000 };
  const ms = twelveHours - 20_000 + dayMs + 10_000;
  expect(timeThroughBudget(more, nowMs)).toEqual({ ends: 'ids', ms, moreDays: 1 });
  const stopping = { ...more, whenSpent: 'stop' as const };
  expect(timeThroughBudget(stopping, nowMs)).toEqual({ ends: 'budget', ms: 20_000, moreDays: 0 });
});

it('the pace of a live run comes from the spans of its history, without pauses and waits', async () => {
  const { disk, clock, recorder } = await openRecorder();
  const pass = (ms: number): Promise<void> => clock.runUntil(clock.sleep(ms));
  const secondsOf = async (seconds: number): Promise<void> => {
    for (let second = 0; second < seconds; second += 1) {
      recorder.listener({ kind: 'sent', ids: 100 });
      recorder.listener({ kind: 'answered', ids: 100, bytes: 1, ms: 1 });
      await pass(1000);
    }
  };
  await secondsOf(20);
  recorder.listener({ kind: 'paused', untilMs: clock.now() + 10_000, reason: 'HTTP 429', concurrency: 1 });
  await pass(10_000);
  recorder.listener({ kind: 'waiting', untilMs: clock.now() + dayMs, reason: 'spent' });
  await pass(dayMs);
  await secondsOf(20);
  const last = lastRunOf(await readRunLines(disk.files, '/out'));
  if (last === undefined) throw new Error('nothing is recorded');
  const { pace, workMs = 0 } = paceOf(last, 1000, clock.now());
  expect(pace.idsPerSecond()).toBeGreaterThan(95);
  expect(pace.idsPerSecond()).toBeLessThan(105);
  expect(workMs).toBeCloseTo((1000 / pace.idsPerSecond()) * 1000);
});

it('a run keeps the calls in flight that it found, and the next one begins with them', async () => {
  const { disk, recorder } = await openRecorder();
  expect(recorder.learnedCalls).toBeUndefined();
  for (const calls of [8, 9, 31]) recorder.listener({ kind: 'limit', calls });
  await recorder.end({ state: 'stopped', exit: 130 });
  expect(lastRunOf(await readRunLines(disk.files, '/out'))).toMatchObject({
    work: { callsAtOnce: 31 },
    start: { concurrency: 8 },
  });
  const { recorder: next } = await openRecorder(disk);
  expect(next.learnedCalls).toBe(31);
  await next.end({ state: 'stopped', exit: 130 });
  expect(lastRunOf(await readRunLines(disk.files, '/out'))?.start.concurrency).toBe(31);
});

it('a run that did nothing finds what others booked today', async () => {
  const { ledger, recorder } = await openRecorder();
  await ledger.reserve({ day: '2026-11-23', credits: 320 });
  expect(await recorder.settle()).toBe(320);
  await recorder.end({ state: 'complete', exit: 0 });
});
