import { describe, expect, it } from 'vitest';
import {
  boundedRunLines,
  type RunLine,
  type RunSpan,
  runLineText,
  type RunStart,
} from '../../../../src/core/run/history/run-lines.ts';
import { keepRunLines, openRunHistory, readRunLines } from '../../../../src/core/run/history/run-history.ts';
import { MemoryDisk } from '../../../model/support/memory-disk.ts';

const folder = '/out';
const startOf = (n: number): RunStart => ({
  kind: 'run',
  n,
  run: `00000000-0000-7000-8000-${n}`,
  startMs: n,
  version: '1',
  whenSpent: 'stop',
  concurrency: 8,
  idsPerCall: 1000,
  creditsPerCall: 160,
  fetched: 0,
  written: 0,
});
const spanAt = (t: number): RunSpan => ({
  kind: 'span',
  t,
  ms: 1000,
  ids: 1000,
  sent: 2,
  answered: 1,
  bytes: 3_000_000,
  replayed: 0,
  read: t,
  inputBytes: t,
  callMs: { 0.5: 1 },
  tookMs: 400,
  longestMs: t % 7000,
});

async function diskWithRun(): Promise<MemoryDisk> {
  const disk = new MemoryDisk();
  await disk.files.makeFolder(`${folder}/.run`);
  return disk;
}

describe('the history of the runs', () => {
  it('is read back line by line, and goes on behind a line that was cut', async () => {
    const disk = await diskWithRun();
    const file = await disk.files.open(`${folder}/.run/runs.jsonl`, 'create');
    await file.write(Buffer.from(`${runLineText([startOf(1), spanAt(0)])}{"kind":"span","t":5`));
    await file.close();
    expect(await readRunLines(disk.files, folder)).toEqual([startOf(1), spanAt(0)]);
    const record = await openRunHistory(disk.files, folder);
    expect(record.earlier).toEqual([startOf(1), spanAt(0)]);
    expect(await record.append([startOf(2)])).toBeUndefined();
    await record.close();
    expect(await readRunLines(disk.files, folder)).toEqual([startOf(1), spanAt(0), startOf(2)]);
    await keepRunLines(disk.files, folder);
    expect(await disk.files.list(`${folder}/.run`)).toEqual([]);
    expect(await disk.files.readAll(`${folder}/runs.jsonl`)).toBeDefined();
    expect(await readRunLines(disk.files, folder)).toHaveLength(3);
  });

  it('has the end of a run also where lines before it could not be written', async () => {
    const disk = await diskWithRun();
    const record = await openRunHistory(disk.files, folder);
    expect(await record.append([startOf(1)])).toBeUndefined();
    disk.weather = () => ({ kind: 'fails', code: 'ENOSPC', writtenShare: 0.5 });
    expect(await record.append([spanAt(0)])).toMatchObject({ exit: 'cannotWrite' });
    disk.weather = () => ({ kind: 'happens' });
    const end: RunLine = { kind: 'end', t: 9, state: 'stopped', exit: 7 };
    await record.append([end]);
    await record.close();
    expect(await readRunLines(disk.files, folder)).toEqual([startOf(1), end]);
    expect(disk.openFiles).toBe(0);
  });

  // Promise, Nothing lost: The run history stays below 200 kB
  it('stays below 200 kB through a month of work, and keeps its sums', async () => {
    const disk = await diskWithRun();
    const record = await openRunHistory(disk.files, folder);
    await record.append([startOf(1)]);
    const hours = 24 * 30;
    for (let hour = 0; hour < hours; hour += 1) {
      const t = hour * 3_600_000;
      const retries = Array.from(
        { length: 4 },
        (_, n): RunLine => ({ kind: 'retry', t, reason: `HTTP ${500 + n}`, attempt: 1 }),
      );
      const pause: RunLine = { kind: 'paused', t, untilMs: t + 5000, heldMs: 5000, reason: 'HTTP 429' };
      const commit: RunLine = { kind: 'committed', t, part: hour, read: 100, exported: 90 };
      await record.append([spanAt(t), spanAt(t + 1000), ...retries, pause, commit]);
    }
    await record.close();
    const bytes = (await disk.files.readAll(`${folder}/.run/runs.jsonl`))?.length ?? 0;
    expect(bytes).toBeLessThanOrEqual(200_000);
    const lines = await readRunLines(disk.files, folder);
    const spans = lines.filter((line) => line.kind === 'span');
    const retries = lines.filter((line) => line.kind === 'retry');
    const commits = lines.filter((line) => line.kind === 'committed');
    expect(spans.length).toBeGreaterThan(100);
    expect(spans.reduce((sum, { ids, callMs }) => sum + ids + (callMs['0.5'] ?? 0), 0)).toBe(2 * hours * 1001);
    expect(retries.reduce((sum, { times = 1 }) => sum + times, 0)).toBe(4 * hours);
    expect(new Set(retries.map(({ reason }) => reason)).size).toBe(4);
    const pauses = lines.filter((line) => line.kind === 'paused');
    expect(pauses.length).toBeLessThanOrEqual(500);
    expect(pauses.reduce((sum, { heldMs = 0 }) => sum + heldMs, 0)).toBe(5000 * hours);
    expect(spans.reduce((sum, { tookMs = 0 }) => sum + tookMs, 0)).toBe(2 * hours * 400);
    expect(Math.max(...spans.map(({ longestMs = 0 }) => longestMs))).toBe(6000);
    expect(commits.reduce((sum, { exported }) => sum + exported, 0)).toBe(90 * hours);
  });

  it('keeps the last state of the service, also where very many are merged', () => {
    const states = ['slowed', 'probing', 'working'] as const;
    const linesOf = (count: number): RunLine[] => [
      startOf(1),
      ...Array.from({ length: count }, (_, t): RunLine => {
        const state = states[t % 3] ?? 'working';
        return { kind: 'service', t: t * 100, state, message: `${state} at ${t}` };
      }),
    ];
    for (const count of [1000, 1001, 1002]) {
      const bounded = boundedRunLines(linesOf(count)).filter((line) => line.kind === 'service');
      expect(bounded.length).toBeLessThanOrEqual(500);
      expect(bounded.reduce((sum, { times = 1 }) => sum + times, 0)).toBe(count);
      expect(bounded.at(-1)).toMatchObject({ state: states[(count - 1) % 3] });
      expect(bounded.at(-1)?.message).toContain(` at ${count - 1}`);
    }
  });

  it('drops the oldest of very many runs', () => {
    const lines = Array.from({ length: 300 }, (_, n) => [startOf(n), spanAt(n), spanAt(n + 1)]).flat();
    const starts = boundedRunLines(lines).filter((line) => line.kind === 'run');
    expect(starts.at(-1)?.n).toBe(299);
    expect(starts).toHaveLength(100);
  });
});
