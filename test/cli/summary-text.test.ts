import { describe, expect, it } from 'vitest';
import { nextText, rehearsal, summaryText } from '../../src/cli/output/summary-text.ts';
import { ExportError } from '../../src/lib/export-error.ts';
import type { ExportAccount, ExportOutcome } from '../../src/core/run/complete-export.ts';
import { noNotes } from '../../src/places/export/export-facts.ts';

const sha256 = '0'.repeat(64);
const file = (path: string, table: string, facts: { rows: number; bytes: number }) => ({
  path,
  table,
  part: 0,
  sha256,
  ...facts,
  format: path.split('/')[0] ?? '',
});

const account: ExportAccount = {
  folder: '/srv/out/x',
  counts: { read: 12_345, exported: 12_000, carried: 0, missing: 300, invalid: 40, duplicate: 5, failed: 0 },
  rows: 12_000,
  fetched: 0,
  pending: 0,
  creditsLeft: null,
  unlisted: null,
  parts: 1,
  files: [
    file('parquet/assets/part-00000.parquet', 'assets', { rows: 12_000, bytes: 4_200_000 }),
    file('csv/assets/part-00000.csv', 'assets', { rows: 12_000, bytes: 15_000_000 }),
    file('csv/creators/part-00000.csv', 'creators', { rows: 20_000, bytes: 900_000 }),
    file('unexported/part-00000.csv', 'unexported', { rows: 345, bytes: 20_000 }),
  ],
  calls: 13,
  credits: 2080,
  drift: [],
  notes: noNotes,
};
const outcome: ExportOutcome = {
  state: 'complete',
  account,
  callsOfRun: 13,
  creditsOfRun: 2080,
  elapsedMs: 4200,
  columns: [],
  invalidSamples: [],
};

describe('the summary', () => {
  it('names the address that readers of the lake use, whatever its folders are called', () => {
    const of = (name: string) => ({
      metadata: `s3://b/lake/nightly/lake/${name}/metadata/v3.metadata.json`,
      snapshot: 7,
    });
    const text = summaryText({ ...outcome, lake: { creators: of('creators'), assets: of('assets') } }, 'out/x');
    expect(text).toMatch(/\n {2}published for readers of s3:\/\/b\/lake\/nightly\/lake: creators, assets$/);
  });

  it('names the columns of the ids and shows the first invalid ones', () => {
    const text = summaryText(
      {
        ...outcome,
        columns: [
          ...['a', 'b', 'c', 'd', 'e'].map((name) => ({ input: `${name}.csv`, column: 'mint', guessed: false })),
          { input: 'f.csv', column: 'Wal\u0007let', guessed: true },
        ],
        invalidSamples: [{ at: 'f.csv:2', text: 'Ali\u0007ce', reason: '5 bytes, not 32' }],
      },
      'out/x',
    );
    expect(text).toContain(`    invalid ids, for example:
      f.csv:2: "Ali\\u0007ce": 5 bytes, not 32
    ids of a.csv, b.csv, c.csv and 2 more files: column "mint"
    ids of f.csv: column "Wal\\x07let" (the only column with ids; set another with --id-column)
`);
  });

  it('tells what was carried over, and what that saved', () => {
    const asked = { new: 2, failed: 0, missing: 0, stale: 0 };
    const base = { name: 'date=2026-11-20', seal: '', asked, overdue: 0, lost: 0, rows: 0, unlisted: 0, classes: [] };
    const carried = { ...outcome, account: { ...account, base, counts: { ...account.counts, carried: 8_624_700 } } };
    expect(summaryText(carried, 'out/x', 1_379_840)).toContain(
      '  carried 8,624,700 from date=2026-11-20 for no credits, saved 1,379,840\n',
    );
    expect(summaryText(carried, 'out/x')).toContain(' for no credits\n');
  });

  it('shows the identity, the bill and the files', () => {
    expect(summaryText(outcome, 'out/x')).toBe(`out/x is complete

    read       12,345
  = exported   12,000
  + missing       300
  + invalid        40
  + duplicate       5
  + failed          0
    ids not exported, with reasons: out/x/unexported/

  13 calls, 2,080 credits, 4.2 s

  4 files of 1 part in out/x:
                       rows    parquet        csv
    assets           12,000    4.20 MB    15.0 MB
    creators         20,000                900 kB
    unexported          345
  open out/x/csv/assets/part-00000.csv`);
  });

  it('names no folder of a rehearsal', () => {
    expect(summaryText(outcome, rehearsal)).not.toContain('/');
  });

  it('tells this run from all runs', () => {
    expect(summaryText({ ...outcome, callsOfRun: 3, creditsOfRun: 480 }, 'out/x')).toContain(
      '\n  3 calls, 480 credits, 4.2 s (13 calls, 2,080 credits over all runs)\n',
    );
  });

  it('says that nothing was spent on an export that was complete', () => {
    const text = summaryText({ ...outcome, state: 'already', callsOfRun: 0, elapsedMs: 0 }, 'out/x');
    expect(text.split('\n')[0]).toBe('out/x was already complete: nothing requested, nothing spent');
    expect(text).toContain('\n  13 calls, 2,080 credits in total\n');
  });

  it('adds what is pending while the export is not complete', () => {
    const text = summaryText(
      { ...outcome, state: 'unfinished', account: { ...account, fetched: 60, pending: 77 } },
      'out/x',
    );
    expect(text.split('\n')[0]).toBe('out/x is not complete yet');
    expect(text).toContain('\n  + pending        77\n    of which 60 are fetched and paid, and not written yet\n');
  });

  it.each([
    ['spent', 'out/x', ': run the same command to resume'],
    ['interrupted', 'out/x', ': run the same command to resume'],
    ['interrupted', rehearsal, ''],
    ['notTrusted', 'out/x', ''],
  ] as const)('says that the same command goes on where it does: %s, %s', (exit, shown, goesOn) => {
    const stopped = { ...outcome, state: 'unfinished', error: new ExportError(exit, 'why') } as const;
    expect(summaryText(stopped, shown).split('\n')[0]).toBe(`${shown} is not complete yet${goesOn}`);
  });

  it('notes drift and oddities, within 80 columns and safe for a terminal', () => {
    const drift = ['a', 'b\u001b[2J', 'c', 'd'].map((path) => ({
      path,
      count: 7,
      sampleId: 'x',
      kind: 'unknownField' as const,
    }));
    const misfit = { path: 'supply', kind: 'misfit' as const, count: 2, sampleId: 'x' };
    const notes = { ...noNotes, formulaCells: 96, foreignRecords: 1 };
    const lines = summaryText({ ...outcome, account: { ...account, drift: [...drift, misfit], notes } }, 'out/x')
      .split('\n')
      .filter((line) => /^ {2}(note: | {6}\S)/.test(line));
    expect(lines).toEqual([
      '  note: 2 values did not fit their column (kept in extra): supply',
      String.raw`  note: 4 unknown fields (kept in extra): a, b\x1b[2J, c, …`,
      '  note: 96 CSV cells would run as formulas in a spreadsheet (see csv.formulas)',
      '  note: 1 record that was not requested (ignored)',
    ]);
  });

  it('notes a single one of each as one', () => {
    const drift = (['misfit', 'unknownField', 'unknownValue'] as const).map((kind) => ({
      kind,
      path: kind,
      count: 1,
      sampleId: 'x',
    }));
    const notes = Object.fromEntries(Object.keys(noNotes).map((name) => [name, 1])) as unknown as typeof noNotes;
    const text = summaryText({ ...outcome, account: { ...account, drift, notes } }, 'out/x');
    expect(text.split('\n').filter((line) => line.startsWith('  note: '))).toEqual([
      '  note: 1 value did not fit its column (kept in extra): misfit',
      '  note: 1 unknown field (kept in extra): unknownField',
      '  note: 1 field with unknown values (kept): unknownValue',
      '  note: 1 CSV cell would run as a formula in a spreadsheet (see csv.formulas)',
      '  note: 1 string cell with a lone surrogate, replaced by U+FFFD',
      '  note: 1 record that was not requested (ignored)',
      '  note: 1 record received twice (first one kept)',
      '  note: 1 record without an id (ignored)',
      '  note: 1 answer with a wrong JSON-RPC id (accepted)',
    ]);
  });

  it('says nothing of files where there are none', () => {
    const text = summaryText(
      { ...outcome, state: 'unfinished', account: { ...account, files: [], parts: 0 } },
      'out/x',
    );
    expect(text).not.toContain(' in out/x');
    expect(text).toMatch(/\n {2}13 calls, 2,080 credits, 4\.2 s$/);
  });

  it('says one credit', () => {
    const one = { ...outcome, callsOfRun: 1, creditsOfRun: 1, account: { ...account, creditsLeft: 1 } };
    expect(summaryText(one, 'out/x')).toContain(
      '\n  1 call, 1 credit, 4.2 s (13 calls, 2,080 credits over all runs)\n  1 credit left\n',
    );
  });
});

describe('the line behind it', () => {
  it('is a command that a shell takes', () => {
    expect(nextText('out/x')).toBe('Next: asset-export verify out/x');
    expect(nextText("my 'out'")).toBe(String.raw`Next: asset-export verify 'my '\''out'\'''`);
  });
});
