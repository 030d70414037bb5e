import type { ExportAccount, ExportOutcome } from '../pipeline/export-outcome.ts';
import { byteSize, count, duration, plural, printable } from './format-text.ts';

/** What a run ends with, for a person: the identity, the bill, the files, and what to do next. */
export function summaryText(outcome: ExportOutcome, shown: string): string {
  const { account } = outcome;
  const head = {
    complete: `${shown} is complete`,
    already: `${shown} was complete already: nothing was asked, nothing spent`,
    unfinished: `${shown} is not complete yet`,
  }[outcome.state];
  return [
    head,
    '',
    ...identityLines(account, shown),
    '',
    ...billLines(outcome),
    ...noteLines(account),
    '',
    ...fileLines(account, shown),
  ].join('\n');
}

/** The line that says what to look at next. */
export function nextText(outcome: ExportOutcome, shown: string): string {
  if (outcome.state !== 'unfinished') return `Next: asset-export verify ${shown}`;
  return `Next: run the same command again to go on, or asset-export status ${shown}`;
}

function identityLines({ counts, pending }: ExportAccount, shown: string): string[] {
  const rows: [string, number, string][] = [
    ['exported', counts.exported, ''],
    ['missing', counts.missing, ''],
    ['invalid', counts.invalid, ''],
    ['duplicate', counts.duplicate, ''],
    ['failed', counts.failed, ''],
    ...(pending === 0 ? [] : [['pending', pending, ''] as [string, number, string]]),
  ];
  const unexported = counts.missing + counts.invalid + counts.duplicate + counts.failed;
  const width = count(counts.read).length;
  const lines = rows.map(
    ([name, value], index) => `  ${index === 0 ? '=' : '+'} ${name.padEnd(10)} ${count(value).padStart(width)}`,
  );
  const where = unexported === 0 ? [] : [`    each id that is no row, and why: ${shown}/unexported/`];
  return [`    ${'read'.padEnd(10)} ${count(counts.read).padStart(width)}`, ...lines, ...where];
}

function billLines({ account, callsOfRun, elapsedMs, state }: ExportOutcome): string[] {
  if (state === 'already') return [`  ${plural(account.calls, 'call')}, ${count(account.credits)} credits in all`];
  const whole =
    callsOfRun === account.calls
      ? ''
      : ` (${plural(account.calls, 'call')}, ${count(account.credits)} credits over all runs)`;
  const each = account.calls === 0 ? 0 : account.credits / account.calls;
  return [`  ${plural(callsOfRun, 'call')}, ${count(callsOfRun * each)} credits, ${duration(elapsedMs)}${whole}`];
}

function noteLines({ notes, drift }: ExportAccount): string[] {
  const misfits = drift.filter(({ kind }) => kind === 'misfit');
  const told: [number, string][] = [
    [
      misfits.reduce((sum, { count: times }) => sum + times, 0),
      `values did not fit their column and are kept in extra: ${misfits
        .slice(0, 3)
        .map(({ path }) => printable(path))
        .join(', ')}`,
    ],
    [notes.formulaCells, 'CSV cells would run as a formula in a spreadsheet (csv.formulas: escape)'],
    [notes.replacedSurrogates, 'string cells held half a character (a lone surrogate), now U+FFFD'],
    [notes.foreignRecords, 'records came that nobody asked for, and were left out'],
    [notes.repeatedRecords, 'records came twice, and the first was kept'],
    [notes.recordsWithoutId, 'records came without an id, and were left out'],
  ];
  return told.filter(([times]) => times > 0).map(([times, words]) => `  note: ${count(times)} ${words}`);
}

function fileLines({ files, parts }: ExportAccount, shown: string): string[] {
  const folders = new Map<string, { files: number; rows: number; bytes: number }>();
  for (const file of files) {
    const folder = file.path.slice(0, file.path.lastIndexOf('/'));
    const sum = folders.get(folder) ?? { files: 0, rows: 0, bytes: 0 };
    folders.set(folder, { files: sum.files + 1, rows: sum.rows + file.rows, bytes: sum.bytes + file.bytes });
  }
  const width = Math.max(0, ...[...folders.keys()].map((name) => name.length)) + shown.length + 1;
  const rows = [...folders].map(
    ([name, sum]) =>
      `    ${`${shown}/${name}`.padEnd(width)}  ${plural(sum.rows, 'row').padStart(14)}  ${byteSize(sum.bytes).padStart(8)}  ${plural(sum.files, 'file')}`,
  );
  return [`  ${plural(parts, 'part')}:`, ...rows];
}
