import { resolve } from 'node:path';
import { type InvalidSample, sampleText, type TakenColumn } from '../../core/ids/read/list-form.ts';
import { isBucketAddress } from '../../lib/addresses/address-kinds.ts';
import { shownPath, commandLine } from '../../lib/addresses/shown-text.ts';
import { plural, printable, byteSize, count, duration, wrapText, cutLine } from '../../lib/format-text.ts';
import type { ExportAccount, ExportOutcome } from '../../core/run/complete-export.ts';
import { type Counts, type FileFacts, limitText, proofsText } from '../../places/export/export-facts.ts';
import { isIdTable } from '../../core/records/id-tables.ts';
import { isAssetId } from '../../lib/ids/asset-id.ts';
import type { AccountFigures } from '../../core/run/history/run-figures.ts';

/** What reading the ids showed, as a plan and a run report it. */
interface IdsRead {
  readonly columns: readonly TakenColumn[];
  readonly invalidSamples: readonly InvalidSample[];
}

/** The same with paths from the working folder: those of a job file start at its folder. */
export function namedFrom<T extends IdsRead>(read: T, idsFolder: string, cwd: string): T {
  const from = (name: string): string =>
    idsFolder === cwd || isBucketAddress(name) || /^-(:|$)/.test(name)
      ? name
      : shownPath(resolve(idsFolder, name), cwd);
  return {
    ...read,
    columns: read.columns.map((column) => ({ ...column, input: from(column.input) })),
    invalidSamples: read.invalidSamples.map((sample) => ({ ...sample, at: from(sample.at) })),
  };
}

/** A glob may stand for thousands. */
const shownInputs = 3;

/** Whether a column's name says that it holds who owns or made something. */
export function isOfWallets({ column }: TakenColumn): boolean {
  return /wallet|owner|holder|authority|creator/i.test(column);
}

/** A line for each column that ids come from. */
export function columnLines(columns: readonly TakenColumn[]): string[] {
  const inputs = new Map<string, string[]>();
  for (const taken of columns) {
    const { column, guessed, input } = taken;
    const doubt = isOfWallets(taken) ? ': these look like wallets, not assets' : '';
    const choice = guessed ? ' (the only column with ids; set another with --id-column)' : '';
    const text = `"${printable(column)}"${choice}${doubt}`;
    inputs.set(text, [...(inputs.get(text) ?? []), printable(input)]);
  }
  return [...inputs].map(([column, names]) => {
    const more = names.length - shownInputs;
    const shown = names.slice(0, shownInputs).join(', ');
    return `ids of ${shown}${more > 0 ? ` and ${plural(more, 'more file')}` : ''}: column ${column}`;
  });
}

/** The first invalid ids, under a line that says what they are; nothing when there is none. */
export function invalidLines({ invalidSamples }: IdsRead): string[] {
  if (invalidSamples.length === 0) return [];
  return ['invalid ids, for example:', ...invalidSamples.map((sample) => `  ${printable(sampleText(sample))}`)];
}

/** What an export is called whose folder goes when it ends: no path in it is named. */
export const rehearsal = 'the rehearsal';

/** Notes are read on a terminal of 80 columns, and the word before them takes some. */
const noteWidth = 70;

/**
 * What a run ends with, for a person: the identity, the bill, the files, and what to do next.
 * @param saved credits that the base saved
 */
export function summaryText(outcome: ExportOutcome, shown: string, saved?: number): string {
  const { account } = outcome;
  return [
    headLine(outcome, shown),
    ...(account.limit === undefined ? [] : [`  ${limitText(account.limit)}`]),
    '',
    ...identityLines(account.counts, account),
    ...unexportedLines(account, shown),
    ...invalidLines(outcome).map((line) => `    ${line}`),
    ...columnLines(outcome.columns).map((line) => `    ${line}`),
    '',
    `  ${billLine(outcome)}`,
    ...(account.creditsLeft === null ? [] : [`  ${plural(account.creditsLeft, 'credit')} left`]),
    ...baseLines(account, saved),
    ...(account.proofs === undefined ? [] : wrapText(proofsText(account.proofs), noteWidth).map((line) => `  ${line}`)),
    ...(account.files.length === 0 ? [] : ['', ...fileLines(account, shown)]),
    ...openLines(outcome, shown),
    ...noteLines(account),
    ...lakeLines(outcome),
  ].join('\n');
}

/**
 * The same of a run that went well, within 20 lines of a terminal: assets in place of counts that the report has.
 * @param assets cells of the first ones, by `firstColumns`
 */
export function shortSummary(
  outcome: ExportOutcome,
  shown: string,
  { assets, saved }: { readonly assets: readonly (readonly string[])[]; readonly saved: number | undefined },
): string {
  const { account } = outcome;
  const left = account.creditsLeft === null ? '' : ` (${count(account.creditsLeft)} left)`;
  const notes = noteLines(account).filter((line) => line.startsWith('  note:')).length;
  return [
    `${headLine(outcome, shown)}${outcome.state === 'already' ? '' : `: ${billLine(outcome, left)}`}`,
    ...(account.limit === undefined ? [] : [`  ${limitText(account.limit)}`]),
    '',
    ...identityLines(account.counts, account),
    ...unexportedLines(account, shown),
    ...baseLines(account, saved).slice(0, 1),
    '',
    ...assetLines(assets),
    ...openLines(outcome, shown),
    ...(shown === rehearsal
      ? []
      : [`  all tables${notes === 0 ? '' : `, ${plural(notes, 'note')}`}: ${commandLine('report', shown)}`]),
    ...lakeLines(outcome),
  ].join('\n');
}

/** What the first assets are shown by. */
export const firstColumns = ['content_metadata_name', 'ownership_owner', 'collection'] as const;

function assetLines(assets: readonly (readonly string[])[]): string[] {
  if (assets.length === 0) return [];
  const rows = [
    ['name', 'owner', 'collection'],
    ...assets.map((cells) => cells.map((cell) => cutLine(shortAddress(printable(cell)), mostCell))),
  ];
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  return rows.map((row) => `  ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')}`.trimEnd());
}

/** So long is a name at most in a line of 80. */
const mostCell = 40;

/** `7xKX…sAsU` */
function shortAddress(text: string): string {
  return isAssetId(text) ? `${text.slice(0, 4)}…${text.slice(-4)}` : text;
}

function headLine(outcome: ExportOutcome, shown: string): string {
  const { error } = outcome;
  const but = error === undefined ? '' : `, but not as required (exit ${error.exitCode})`;
  return {
    complete: `${shown} is complete${but}`,
    already: `${shown} was already complete${but}: nothing requested, nothing spent`,
    unfinished: `${shown} is not complete yet${isResumable(outcome, shown) ? ': run the same command to resume' : ''}`,
  }[outcome.state];
}

/** The file with which to begin, once the export is complete: that of the assets which most programs open. */
function openLines({ state, account }: ExportOutcome, shown: string): string[] {
  const all = account.files.filter(({ table, rows }) => table === 'assets' && rows > 0);
  const mine = ['csv', 'jsonl', 'parquet'].map((format) => all.filter((file) => file.format === format));
  const [file, ...others] = mine.find(({ length }) => length > 0) ?? [];
  if (file === undefined || state === 'unfinished' || shown === rehearsal) return [];
  return [
    `  open ${shown}/${file.path}${others.length === 0 ? '' : `, the first of ${plural(others.length + 1, 'file')}`}`,
  ];
}

/**
 * The line that says what to look at next, once the export is complete.
 * @param endpoint of the bucket, where the environment does not name it
 */
export function nextText(shown: string, endpoint?: string): string {
  return `Next: ${commandLine('verify', shown, ...(endpoint === undefined ? [] : ['--out-endpoint', endpoint]))}`;
}

/** Whether the same command finds again what this run has kept. */
function isResumable({ error }: ExportOutcome, shown: string): boolean {
  return error !== undefined && error.again !== 'never' && shown !== rehearsal;
}

/** Where readers find the tables of the lake, which may be another address than that of the export. */
function lakeLines({ lake = {} }: ExportOutcome): string[] {
  const [[name, { metadata }] = ['', { metadata: '' }]] = Object.entries(lake);
  if (name === '') return [];
  const address = metadata.slice(0, metadata.lastIndexOf(`/${name}/metadata/`));
  return [`  published for readers of ${printable(address)}: ${Object.keys(lake).join(', ')}`];
}

function billLine({ account, callsOfRun, creditsOfRun, elapsedMs, state }: ExportOutcome, left = ''): string {
  if (state === 'already') return `${plural(account.calls, 'call')}, ${plural(account.credits, 'credit')} in total`;
  const whole =
    callsOfRun === account.calls
      ? ''
      : ` (${plural(account.calls, 'call')}, ${plural(account.credits, 'credit')} over all runs)`;
  return `${plural(callsOfRun, 'call')}, ${plural(creditsOfRun, 'credit')}${left}, ${duration(elapsedMs)}${whole}`;
}

/** What was taken from the base, and a line for each class that was requested: how much of it had changed. */
function baseLines({ base, counts }: ExportAccount, saved = 0): string[] {
  if (base === undefined) return [];
  const { overdue, unlisted } = base;
  const percent = (share: number): string => `${Number((share * 100).toFixed(1))} %`;
  const late = overdue === 0 ? '' : `, ${count(overdue)} overdue (base.maxCredits)`;
  return [
    `  carried ${count(counts.carried)} from ${printable(base.name)} for no credits${saved > 0 ? `, saved ${count(saved)}` : ''}${late}`,
    ...(unlisted === 0 ? [] : [`    ${plural(unlisted, 'asset')} of the base not listed now`]),
    ...base.classes
      .filter(({ asked }) => asked > 0)
      .map(({ when, asked, changed }) => {
        const name = when.length === 0 ? 'others' : printable(when.join(' '));
        return `    ${name}: ${count(asked)} requested again, ${count(changed)} had changed (${percent(changed / asked)})`;
      }),
  ];
}

function unexportedLines({ counts }: ExportAccount, shown: string): string[] {
  const unexported = counts.missing + counts.invalid + counts.duplicate + counts.failed;
  return unexported === 0 || shown === rehearsal ? [] : [`    ids not exported, with reasons: ${shown}/unexported/`];
}

function noteLines({ notes: counted, drift }: ExportAccount): string[] {
  const driftOf = (kind: string) => drift.filter((each) => each.kind === kind);
  const misfits = driftOf('misfit');
  const fields = driftOf('unknownField');
  const values = driftOf('unknownValue');
  const misfitted = misfits.reduce((sum, each) => sum + each.count, 0);
  const notes: [number, string, string][] = [
    [misfitted, 'value', `did not fit ${misfitted === 1 ? 'its' : 'their'} column (kept in extra): ${few(misfits)}`],
    [fields.length, 'unknown field', `(kept in extra): ${few(fields)}`],
    [values.length, 'field', `with unknown values (kept): ${few(values)}`],
    [
      counted.formulaCells,
      'CSV cell',
      `would run as ${counted.formulaCells === 1 ? 'a formula' : 'formulas'} in a spreadsheet (see csv.formulas)`,
    ],
    [counted.replacedSurrogates, 'string cell', 'with a lone surrogate, replaced by U+FFFD'],
    [counted.foreignRecords, 'record', `that ${counted.foreignRecords === 1 ? 'was' : 'were'} not requested (ignored)`],
    [counted.repeatedRecords, 'record', 'received twice (first one kept)'],
    [counted.recordsWithoutId, 'record', 'without an id (ignored)'],
    [counted.otherResponseIds, 'answer', 'with a wrong JSON-RPC id (accepted)'],
  ];
  return notes
    .filter(([times]) => times > 0)
    .flatMap(([times, noun, words]) =>
      wrapText(`${plural(times, noun)} ${words}`, noteWidth).map(
        (line, index) => `  ${index === 0 ? 'note:' : '     '} ${line}`,
      ),
    );
}

/** The first paths of a kind of drift. */
function few(drift: readonly { readonly path: string }[]): string {
  const named = drift.slice(0, 3).map(({ path }) => printable(path));
  return `${named.join(', ')}${drift.length > named.length ? ', …' : ''}`;
}

/** A line a table, a column a format: every format holds the same rows. */
function fileLines({ files, parts }: ExportAccount, shown: string): string[] {
  const folderOf = ({ path }: FileFacts): string => path.split('/')[0] ?? '';
  const formats = [...new Set(files.filter(({ table }) => !isIdTable(table)).map(folderOf))];
  const tables = [...new Set(files.map(({ table }) => table))];
  const width = Math.max(0, ...tables.map((name) => name.length));
  const lines = tables.map((table) => {
    const mine = files.filter((file) => file.table === table);
    const first = mine.filter((file) => folderOf(file) === (mine[0] === undefined ? '' : folderOf(mine[0])));
    const rows = first.reduce((sum, file) => sum + file.rows, 0);
    const sizes = formats.map((format) => {
      const inFormat = isIdTable(table) ? [] : mine.filter((file) => folderOf(file) === format);
      return inFormat.length === 0 ? '' : byteSize(inFormat.reduce((sum, { bytes }) => sum + bytes, 0));
    });
    return `    ${table.padEnd(width)}  ${count(rows).padStart(11)}${sizes.map((size) => size.padStart(11)).join('')}`;
  });
  const head = `    ${''.padEnd(width)}  ${'rows'.padStart(11)}${formats.map((name) => name.padStart(11)).join('')}`;
  return [`  ${plural(files.length, 'file')} of ${plural(parts, 'part')} in ${shown}:`, head, ...lines].map((line) =>
    line.trimEnd(),
  );
}

/** The accounting identity as a sum: `read = exported (+ carried) + missing + invalid + duplicate + failed (+ pending)`. */
export function identityLines(
  counts: Counts,
  { fetched, pending }: Pick<AccountFigures, 'fetched' | 'pending'>,
): string[] {
  const rows: (readonly [string, number])[] = [
    ['exported', counts.exported],
    ...(counts.carried === 0 ? [] : [['carried', counts.carried] as const]),
    ['missing', counts.missing],
    ['invalid', counts.invalid],
    ['duplicate', counts.duplicate],
    ['failed', counts.failed],
    ...(pending === 0 ? [] : [['pending', pending] as const]),
  ];
  const width = count(counts.read).length;
  const line = (sign: string, name: string, value: number): string =>
    `  ${sign} ${name.padEnd(10)} ${count(value).padStart(width)}`;
  return [
    line(' ', 'read', counts.read),
    ...rows.map(([name, value], index) => line(index === 0 ? '=' : '+', name, value)),
    ...(fetched === 0
      ? []
      : [`    of which ${count(fetched)} ${fetched === 1 ? 'is' : 'are'} fetched and paid, and not written yet`]),
  ];
}
