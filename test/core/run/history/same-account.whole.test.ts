import { inFolder } from '../../../../src/core/run/homes/export-place.ts';
import { appendFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { statusText } from '../../../../src/cli/output/status-text.ts';
import { summaryText } from '../../../../src/cli/output/summary-text.ts';
import { createMemoryLedger } from '../../../../src/core/client/ledger/credit-ledger.ts';
import { count } from '../../../../src/lib/format-text.ts';
import { RunMetrics } from '../../../../src/wings/observe/run-metrics.ts';
import type { ExportOutcome } from '../../../../src/core/run/complete-export.ts';
import { statusAt } from '../../../../src/wings/status/export-status.ts';
import { readExportReport } from '../../../../src/wings/report/report-export.ts';
import { reportPage } from '../../../../src/wings/report/page/page.ts';
import { exportPaths, pathIn } from '../../../../src/places/export/export-folder.ts';
import { localDisk } from '../../../../src/places/files/disk.ts';
import type { RunLine } from '../../../../src/core/run/history/run-lines.ts';
import { creditFigures, runsOf } from '../../../../src/core/run/history/run-history.ts';
import type { RunEnd } from '../../../../src/core/work/run-observer.ts';
import { idEntries } from '../../../support/id-file.ts';
import { runExport } from '../../../support/run-export.ts';
import { runSpan, runStart } from '../../../support/run-lines.ts';
import { type GeneratedServiceOptions, startGeneratedService } from '../../../support/service/generated-service.ts';
import { tempFolder } from '../../../support/temp-folder.ts';

type Flags = Readonly<Record<string, unknown>>;

interface Run {
  readonly flags?: Flags;
  readonly out?: string;
  /** The export before it that it takes rows from. */
  readonly base?: string;
  /** How many ids are listed: 60 unless given. */
  readonly ids?: number;
  /** Takes the end of the run out of its history, as a kill does. */
  readonly isKilled?: boolean;
  /** Takes its spans out too: a kill may come before the last ones are written. */
  readonly isEarly?: boolean;
}

/** 60 ids, in calls of 10 and parts of 20. */
async function exported(runs: readonly Run[], options: GeneratedServiceOptions = {}) {
  const folder = await tempFolder();
  const service = await startGeneratedService(options);
  onTestFinished(() => service.stop());
  const ledger = createMemoryLedger();
  let outcome: ExportOutcome | undefined;
  let ended: RunEnd | undefined;
  let values = '';
  let out = '';
  for (const { flags = {}, out: name = 'out', base, ids = 60, isKilled = false, isEarly = false } of runs) {
    await writeFile(join(folder, 'ids.txt'), `${idEntries({ entries: 60 }).slice(0, ids).join('\n')}\n`);
    out = join(folder, name);
    outcome = await runExport({
      flags: {
        ids: [join(folder, 'ids.txt')],
        url: service.url,
        out,
        format: 'csv',
        threads: '1',
        concurrency: '1',
        'ids-per-call': '10',
        'rows-per-part': '20',
        'credits-per-day': '100000',
        base: base === undefined ? 'none' : join(folder, base),
        ...flags,
      },
      context: {
        ledger,
        observe: async (run) => {
          const metrics = new RunMetrics(run, await ledger.booked('2026-01-01'));
          const end = async (how: RunEnd): Promise<void> => {
            ended = how;
            metrics.end(how);
            values = await metrics.text();
          };
          return { listener: metrics.listener, end };
        },
      },
    });
    if (isKilled) await withoutEnd(out, isEarly ? ['end', 'span'] : ['end']);
  }
  if (outcome === undefined || ended === undefined) throw new Error('no run');
  const nowMs = Date.now();
  const place = inFolder(localDisk, out);
  const status = await statusAt(place, nowMs);
  const report = await readExportReport({ place, nowMs, version: '1', extent: 'none' });
  const metric = (name: string): number =>
    Number(new RegExp(`^asset_export_${name}\\{[^}]*\\} (\\S+)$`, 'm').exec(values)?.[1] ?? Number.NaN);
  return { outcome, ended, metric, status, report };
}

async function withoutEnd(out: string, kinds: readonly RunLine['kind'][] = ['end']): Promise<void> {
  const path = pathIn(out, exportPaths.runLines);
  const lines = (await readFile(path, 'utf8')).trimEnd().split('\n');
  const isLost = (line: string): boolean => kinds.some((kind) => line.includes(`"kind":"${kind}"`));
  await writeFile(path, `${lines.filter((line) => !isLost(line)).join('\n')}\n`);
  // What a crash cut off.
  await appendFile(path, '{"kind":"span","t":');
}

const spent = { 'credits-per-run': '480' };

interface Case {
  readonly that: string;
  readonly runs: readonly Run[];
  readonly service?: GeneratedServiceOptions;
  readonly expected: object;
}

const twice: readonly Run[] = [{ flags: spent, isKilled: true }, { flags: { 'credits-per-run': '160' } }];
const beforeItsFirstPart = { ...spent, 'rows-per-part': '60' };
const onItsDay = { 'credits-per-day': '480' };
const throttled: GeneratedServiceOptions['throttled'] = ({ number }) => (number === 2 ? 0 : undefined);

const cases: readonly Case[] = [
  { that: 'is complete', runs: [{}], expected: { rows: 60, fetched: 0, pending: 0 } },
  { that: 'is spent', runs: [{ flags: spent }], expected: { rows: 20, fetched: 10 } },
  {
    that: 'is spent before its first part',
    runs: [{ flags: beforeItsFirstPart }],
    expected: { rows: 0, fetched: 30 },
  },
  { that: 'was killed', runs: [{ flags: spent, isKilled: true }], expected: { rows: 20, fetched: 10 } },
  { that: 'is resumed, and spent again', runs: twice, expected: { rows: 20, fetched: 20 } },
  { that: 'is spent on its day', runs: [{ flags: onItsDay }], expected: { rows: 20, fetched: 10, creditsLeft: 0 } },
  { that: 'has paused', runs: [{}], service: { throttled }, expected: { rows: 60 } },
  {
    that: 'is carried from its base',
    runs: [{ out: 'a' }, { out: 'b', base: 'a' }],
    expected: { rows: 60, fetched: 0 },
  },
  {
    that: 'has a base with ids that are not listed now',
    runs: [{ out: 'a' }, { out: 'b', base: 'a', ids: 50 }],
    expected: { rows: 50, unlisted: 10 },
  },
];

describe.each(cases)('an export that $that', ({ that, runs, service, expected }) => {
  // Promise, Nothing lost: Summary, `status`, report, notifications and metrics show the same account
  it('has the same account in all views', async () => {
    const isCut = runs.at(-1)?.ids !== undefined;
    const { outcome, ended, metric, status, report } = await exported(runs, service);
    const { rows, fetched, pending, creditsLeft, unlisted } = outcome.account;
    const figures = { rows, fetched, pending, creditsLeft, unlisted };
    expect(figures).toMatchObject(expected);
    expect(status).toMatchObject(figures);
    expect(report.account).toEqual(figures);
    expect(report.pending).toBe(pending);
    expect(ended.account).toMatchObject(figures);
    expect({ rows: metric('rows'), fetched: metric('fetched_ids'), creditsLeft: metric('credits_remaining') }).toEqual({
      rows,
      fetched,
      creditsLeft,
    });
    expect(metric('entries')).toBe(outcome.account.counts.exported);

    expect(metric('unlisted')).toEqual(unlisted ?? Number.NaN);
    expect(statusText(status, 'out').includes('unlisted 10 ids of the base')).toBe(isCut);
    expect(reportPage(report).includes('10 of the 60 assets of the base are not listed now')).toBe(isCut);

    const { calls, credits, counts } = outcome.account;
    expect(status).toMatchObject({ calls, credits });
    expect(report).toMatchObject({ calls, credits, counts });
    const last = report.runs?.runs.at(-1);
    expect(status.elapsedMs).toBe((last?.endedMs ?? 0) - (last?.beganMs ?? 0));
    expect(status.rate).toBeCloseTo(((last?.ids ?? 0) / (status.elapsedMs ?? 0)) * 1000);
    if (runs.length === 1) expect(report.runs?.idsPerSecond).toBe(status.rate);
    expect(last?.ended === 'killed', that).toBe(runs.at(-1)?.isKilled === true);

    for (const text of [summaryText(outcome, 'out'), statusText(status, 'out')]) {
      expect(text).toMatch(new RegExp(`^ +read +${count(counts.read)}$`, 'm'));
    }
    expect(summaryText(outcome, 'out').includes(`of which ${count(fetched)} are fetched and paid`)).toBe(fetched > 0);
    expect(statusText(status, 'out').includes(`fetched  ${count(fetched)} ids, not yet written`)).toBe(fetched > 0);
  });
});

it('the credits left are those that any process of the export saw last, whichever began last', () => {
  const startMs = Date.UTC(2026, 10, 23, 12);
  const start = (n: number, atMs: number) => runStart({ n, startMs: startMs + atMs });
  const span = (t: number, booked: number) => runSpan({ t, sent: 1, answered: 1, booked });
  const end: RunLine = { kind: 'end', t: 60_000, state: 'stopped', exit: 8 };
  // The worker that began first booked last, and has ended.
  const runs = runsOf([start(1, 0), span(0, 160), span(50_000, 2400), end, start(2, 5000), span(0, 320)]);
  for (const live of [undefined, runs[1]])
    expect(creditFigures(runs, { live, nowMs: startMs + 70_000 })).toEqual({ today: 2400, left: 800 });
});

it('of a killed run, the credits of the day hold all that its counters say', async () => {
  const { outcome, status, report } = await exported([{ flags: spent, isKilled: true, isEarly: true }]);
  expect(outcome.account).toMatchObject({ credits: 480, creditsLeft: 99_520 });
  expect(status).toMatchObject({ credits: 480, creditsToday: 480, creditsLeft: 99_520 });
  expect(report.account).toMatchObject({ creditsLeft: 99_520 });
});

describe('what an export is known to have spent', () => {
  const midnightMs = Date.UTC(2026, 10, 23);
  const start = (atMs: number) => runStart({ n: 1, startMs: midnightMs + atMs, creditsPerDay: 50_000 });
  const span = (booked: number) => runSpan({ t: 0, sent: 43, answered: 43, booked });
  const figures = (startMs: number, booked: number) =>
    creditFigures(runsOf([start(startMs), span(booked)]), { nowMs: midnightMs + 60_000, spent: { credits: 8800 } });

  it('is the least of the day, where all its runs began on it', () => {
    expect(figures(1000, 6880)).toEqual({ today: 8800, left: 41_200 });
    expect(figures(1000, 20_000)).toEqual({ today: 20_000, left: 30_000 });
  });

  it('says nothing of the day, where a run began before it', () => {
    expect(figures(-500, 6880)).toEqual({ today: 6880, left: 43_120 });
  });

  it('says nothing of a ledger that was set to less than the calls it saw', () => {
    expect(figures(1000, 1600)).toEqual({ today: 1600, left: 48_400 });
  });
});
