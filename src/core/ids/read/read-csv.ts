import { isAssetId } from '../../../lib/ids/asset-id.ts';
import { ExportError } from '../../../lib/export-error.ts';
import { type CsvCell, type CsvRow, scanCsv, type ScanCsvOptions } from '../../../lib/scan/scan-csv.ts';
import type { ByteScanner } from '../../../lib/scan/split-lines.ts';
import { outcomesToRead, unexportedTable } from '../../records/id-tables.ts';
import { cleanId } from '../entries.ts';
import type { EntryBlocks } from './entry-blocks.ts';
import { listTodo } from './input-bytes.ts';
import { chooseColumns, namedPlaces, namesText, placeOf } from './id-columns.ts';
import {
  type CsvForm,
  entriesLookedAt,
  type ListForm,
  type ListSurvey,
  type Sample,
  type SurveyOptions,
  mostSamples,
} from './list-form.ts';
import { noList } from './no-list.ts';

/** Longest cell that may still hold an id among blanks, in bytes. */
const longestCell = 65_536;

const delimiters = [',', '\t', ';', '|'];

/**
 * Reads the id column of CSV.
 * @param outcomes of a file from `unexported/`: those whose rows are entries
 * @throws {ExportError} `input` when a quoted cell has no end.
 */
export function readCsv(
  input: string,
  entries: EntryBlocks,
  form: CsvForm,
  outcomes: readonly string[] = outcomesToRead,
): ByteScanner {
  const { column, outcome } = form;
  return scanCsv({
    ...scanning(input, form),
    wants: (place) => place === column || place === outcome,
    ...takenBy(new CsvEntries(entries, form, outcomes)),
  });
}

/** Makes an entry of each row. */
class CsvEntries implements CsvTaker {
  readonly #entries: EntryBlocks;
  readonly #form: CsvForm;
  readonly #outcomes: readonly string[];
  #skipped = 0;
  #id: string | undefined;
  #isExact = false;
  #isCut = false;
  #isWanted = true;

  constructor(entries: EntryBlocks, form: CsvForm, outcomes: readonly string[]) {
    this.#entries = entries;
    this.#form = form;
    this.#outcomes = outcomes;
  }

  onCell(cell: CsvCell): void {
    if (cell.column === this.#form.outcome) {
      this.#isWanted = this.#outcomes.includes(textOf(cell));
      return;
    }
    this.#isExact = this.#entries.findId(cell.bytes, 0, cell.end);
    this.#isCut = cell.cut;
    // Of an id, what was found is all that is wanted.
    this.#id = this.#isExact ? '' : textOf(cell);
  }

  onRow(row: CsvRow): void {
    if (!row.isBlank) {
      if (this.#skipped < this.#form.skippedRows) this.#skipped += 1;
      else if (this.#isWanted) this.#add(row);
    }
    this.#id = undefined;
    this.#isCut = false;
    this.#isWanted = true;
  }

  #add({ line, columns }: CsvRow): void {
    const entries = this.#entries;
    const id = this.#id;
    if (this.#isCut) entries.addInvalid(cleanId(id ?? ''), line, `a cell of more than ${longestCell} bytes`);
    else if (id === undefined) {
      entries.addInvalid('', line, `${columns} columns, but the id is in column ${this.#form.column + 1}`);
    } else if (this.#isExact) entries.addFound(line);
    else if (!entries.addText(id, line)) entries.addInvalid('', line, 'empty id column');
  }
}

function scanning(input: string, { delimiter }: Pick<CsvForm, 'delimiter'>) {
  return {
    delimiter,
    longest: longestCell,
    fault: (why: string, line: number) =>
      new ExportError('input', `${input}:${line}: ${why}`, { todo: 'Close the quote, or double it inside a cell.' }),
  };
}

interface CsvTaker {
  onCell(cell: CsvCell): void;
  onRow(row: CsvRow): void;
}

function takenBy(taker: CsvTaker): Pick<ScanCsvOptions, 'onCell' | 'onRow'> {
  return {
    onCell: (cell) => {
      taker.onCell(cell);
    },
    onRow: (row) => {
      taker.onRow(row);
    },
  };
}

function textOf(cell: CsvCell): string {
  return cell.bytes.toString('utf8', 0, cell.cut ? 1000 : cell.end);
}

/** Rows further down are no header. */
const mostAbove = 50;

/** More columns are not looked at. */
const mostColumns = 10_000;

/**
 * Looks at the beginning of CSV. The first row is the header when the user names a column, else unless one of its cells is an
 * id, or nearly one and none has a name of the id column.
 */
export function surveyCsv(options: SurveyOptions): ListSurvey {
  const { input, column: asked } = options;
  const start = spreadsheetStart(options);
  const table = new CsvTable(options, start.hasLine ? 1 : 0);
  const scanner = scanCsv({
    ...scanning(input, start),
    wants: (place) => place < mostColumns,
    ...takenBy(table),
  });
  return {
    ...scanner,
    get entries() {
      return table.entries;
    },
    async form(): Promise<ListForm> {
      const { entries, names, isHeader, counts } = table;
      // All ids on one line are a list.
      if (!isHeader && entries === 1 && counts.filter((ids) => ids > 0).length > 1) return { kind: 'words' };
      const skippedRows = (start.hasLine ? 1 : 0) + (isHeader ? 1 : 0);
      const { delimiter } = start;
      const outcome = table.outcome < 0 ? {} : { outcome: table.outcome };
      const holdsIds = (place: number): boolean => entries === 0 || (counts[place] ?? 0) > 0;
      if (entries === 0 && asked === undefined) {
        const [column = 0] = namedPlaces(names);
        return { kind: 'csv', delimiter, skippedRows, column, ...outcome };
      }
      const isKnown = asked === undefined ? namedPlaces(names).some(holdsIds) : placeOf(names, asked) !== undefined;
      if (isHeader && !isKnown) requireNoTitle(input, table.above, table.firstIds);
      const { columns, guessed } = await chooseColumns({ input, names, named: isHeader, asked, holdsIds });
      const [column] = columns;
      if (column === undefined) {
        throw noList(options, { entries, samples: table.samples, ...(isHeader ? { names } : {}) });
      }
      const taken = { input, column: names[column] ?? '', guessed };
      return { kind: 'csv', delimiter, skippedRows, column, ...outcome, taken };
    },
  };
}

interface FirstRow {
  readonly line: number;
  readonly cells: readonly string[];
}

/** @throws {ExportError} `input` when rows with fewer cells than the first row with an id, or comments, stand above the header */
function requireNoTitle(input: string, above: readonly FirstRow[], firstIds: readonly string[]): void {
  const filled = (cells: readonly string[]): number => cells.filter((cell) => cell !== '').length;
  const isTitle = ({ cells }: FirstRow): boolean =>
    filled(cells) < filled(firstIds) ||
    (cells[0]?.startsWith('#') === true && (firstIds.length === 1 || cells.length !== firstIds.length));
  const header = above.find((row) => !isTitle(row));
  if (header === undefined || header === above[0]) return;
  const { line, cells } = header;
  throw new ExportError('input', `${input}: the header seems to be line ${line} (${namesText(cells)})`, {
    todo: listTodo(
      'Remove the lines above it, and use that',
      input,
      [`tail -n +${line}`],
      /\.(tsv|tab)(\.|$)/i.test(input) ? 'tsv' : 'csv',
    ),
  });
}

/** What the rows of CSV show. */
class CsvTable implements CsvTaker {
  entries = 0;
  names: readonly string[] = [];
  isHeader = true;
  /** Ids by column. */
  readonly counts: number[] = [];
  readonly samples: Sample[] = [];
  /** The rows above the first one with an id, and that one. */
  readonly above: FirstRow[] = [];
  firstIds: readonly string[] = [];
  /** Place of the outcome in a file from `unexported/`; -1 in others. */
  outcome = -1;
  readonly #asked: string | undefined;
  readonly #outcomes: readonly string[];
  /** Rows that still stand before the first. */
  #before: number;
  #isFirst = true;
  #sampled = 0;
  #cells: string[] = [];

  constructor({ column, outcome = outcomesToRead }: SurveyOptions, before: number) {
    this.#asked = column;
    this.#outcomes = outcome;
    this.#before = before;
  }

  onCell(cell: CsvCell): void {
    const text = textOf(cell);
    this.#cells.push(isAssetId(text) ? text : cleanId(text));
  }

  onRow({ isBlank, line }: CsvRow): void {
    const cells = this.#cells;
    this.#cells = [];
    if (isBlank) return;
    if (this.firstIds.length === 0) {
      if (cells.some((cell) => isAssetId(cell))) this.firstIds = cells;
      else if (this.above.length < mostAbove) this.above.push({ line, cells });
    }
    if (this.#before > 0) this.#before -= 1;
    else if (this.#isFirst && this.#takesHeader(cells)) return;
    else if (this.outcome < 0 || this.#outcomes.includes(cells[this.outcome] ?? '')) this.#count(cells, line);
  }

  /** True when the first row is no entry, but names the columns. */
  #takesHeader(cells: readonly string[]): boolean {
    this.#isFirst = false;
    this.isHeader = this.#asked !== undefined || looksLikeHeader(cells);
    this.names = this.isHeader ? cells : cells.map((_, place) => `${place + 1} (no header)`);
    if (cells.join() === unexportedNames.join()) this.outcome = cells.indexOf('outcome');
    if (this.isHeader) this.#sampled = Math.max(0, cells.indexOf(this.#asked ?? ''));
    return this.isHeader;
  }

  #count(cells: readonly string[], line: number): void {
    if (this.entries >= entriesLookedAt) return;
    this.entries += 1;
    for (const [place, cell] of cells.entries()) {
      if (isAssetId(cell)) this.counts[place] = (this.counts[place] ?? 0) + 1;
    }
    if (this.samples.length < mostSamples) this.samples.push({ line, text: cells[this.#sampled] ?? '' });
  }
}

const unexportedNames = unexportedTable.columns.map(({ name }) => name);

function looksLikeHeader(names: readonly string[]): boolean {
  if (names.some((name) => isAssetId(name))) return false;
  return namedPlaces(names).length > 0 || !names.some(isNearlyId);
}

/** True for what may be an id with a slip in it. A long name may look so, too. */
function isNearlyId(cell: string): boolean {
  const odd = cell.match(/[^1-9A-HJ-NP-Za-km-z]/g)?.length ?? 0;
  return cell.length >= 28 && cell.length <= 48 && odd <= 2;
}

/** The delimiter, and whether a line `sep=;` says it, as spreadsheets write it above the header. */
function spreadsheetStart({ input, head }: SurveyOptions): { readonly delimiter: number; readonly hasLine: boolean } {
  const text = head.toString('latin1').trimStart();
  const [, said] = /^"?sep=([^\r\n"])"?[ \t]*(?:[\r\n]|$)/i.exec(text) ?? [];
  return { delimiter: said?.charCodeAt(0) ?? delimiterOf(input, text), hasLine: said !== undefined };
}

/** Tab for what is named so, else what separates most often, outside quotes, the first row that has any. */
function delimiterOf(input: string, text: string): number {
  if (/\.(tsv|tab)(\.|$)/i.test(input)) return 9;
  // A title above the table has none.
  const rows = text.match(/(?:"[^"]*"|[^"\r\n])+/g)?.slice(0, mostAbove) ?? [];
  const bare = rows
    .map((row) => row.replaceAll(/"[^"]*"/g, ''))
    .find((row) => delimiters.some((each) => row.includes(each)));
  const counts = delimiters.map((delimiter) => (bare ?? '').split(delimiter).length);
  return delimiters[counts.indexOf(Math.max(...counts))]?.charCodeAt(0) ?? 44;
}
