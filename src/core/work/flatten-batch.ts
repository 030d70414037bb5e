import { type Entries, entryStates, type IdEntry, invalidState, stateOfInvalid } from '../ids/entries.ts';
import { idsTable, type UnexportedOutcome, unexportedTable } from '../records/id-tables.ts';
import { marksOf, type RowBlock, RowBlockBuilder, blockOf } from '../records/row-block.ts';
import { MadeText, utf8Text } from '../records/texts.ts';
import type { Row } from '../records/table.ts';
import type { NoRecord } from '../client/lookups.ts';
import { assetsTable, changesTable } from '../records/columns.ts';
import type { Drift, DriftCounter } from '../records/drift.ts';
import type { RecordRows } from '../records/scan/record-rows.ts';
import type { ShapedTable } from '../records/shape-table.ts';
import type { FetchedBatch } from './fetch-batches.ts';
import type { changeRows } from './change-rows.ts';

const invalid = entryStates.indexOf(invalidState);
const width = idsTable.columns.length;

interface Word {
  readonly from: number;
  readonly length: number;
  readonly marks: number;
}

/** Makes the rows of the table `ids` from entries. */
export class IdRows {
  readonly #states: readonly Word[];
  readonly #sources: readonly Word[];
  readonly #builder: RowBlockBuilder;

  /** @param sources names of the inputs, by `IdEntry.source` */
  constructor(sources: readonly string[]) {
    const texts = [...entryStates, ...sources].map((text) => Buffer.from(text));
    let end = 0;
    const words = texts.map((text): Word => {
      const from = ~end;
      end += text.length;
      return { from, length: text.length, marks: marksOf(text, 0, text.length) };
    });
    this.#states = words.slice(0, entryStates.length);
    this.#sources = words.slice(entryStates.length);
    this.#builder = new RowBlockBuilder(width, 1024, new MadeText(Buffer.concat(texts)));
  }

  /** The rows are valid until others are made, or the entries are released. */
  of(entries: Entries): RowBlock {
    const { texts, ends, sources, lines, marks, reasons } = entries.view();
    const builder = this.#builder;
    builder.cutTo(0);
    let start = 0;
    for (let index = 0; index < entries.length; index += 1) {
      const first = builder.addRow();
      const end = ends[index] ?? 0;
      const mark = marks[index] ?? 0;
      this.#setWord(first, this.#sources[sources[index] ?? 0]);
      builder.setCell(first + 1, lines[index] ?? 0, 'int64');
      builder.setSpan(first + 2, start, end - start);
      this.#setWord(first + 3, this.#states[mark]);
      if (mark === invalid) {
        builder.marks[first + 2] = marksOf(texts, start, end);
        const state = stateOfInvalid(utf8Text(texts, start, end), reasons.get(index) ?? '');
        if (state !== invalidState) builder.setText(first + 3, state, true);
      }
      start = end;
    }
    return builder.block(texts);
  }

  #setWord(cell: number, word: Word | undefined): void {
    if (word === undefined) throw new Error('an entry is of no input');
    this.#builder.setSpan(cell, word.from, word.length);
    this.#builder.marks[cell] = word.marks;
  }
}

/** An entry that is no row. */
interface Unexported {
  readonly entry: IdEntry;
  /** Absent when it was not requested. */
  readonly lookup: NoRecord | undefined;
}

function unexportedOutcome({ entry, lookup }: Unexported): UnexportedOutcome {
  if (entry.state !== 'valid') return entry.state;
  return lookup?.kind ?? 'failed';
}

export function unexportedRow(unexported: Unexported, source: string): Row {
  const { entry, lookup } = unexported;
  const why = entry.state === 'duplicate' ? 'seen before' : entry.reason;
  return [entry.text, unexportedOutcome(unexported), lookup?.reason ?? why, source, entry.line];
}

/** The rows that a batch gives to each file of its part. */
export interface FlatBatch {
  /** By table name. */
  readonly rows: ReadonlyMap<string, readonly RowBlock[]>;
  /** One cell a row: the record's text. Empty unless raw files are wanted. */
  readonly raw: readonly RowBlock[];
  readonly unexported: readonly RowBlock[];
  /** All entries. Empty unless they are kept. */
  readonly ids: readonly RowBlock[];
}

export interface FlattenOptions {
  readonly tables: readonly ShapedTable[];
  readonly raw: boolean;
  /** Makes rows of `changes`, where they are wanted. */
  readonly changeRows?: typeof changeRows | undefined;
  /** Makes rows of all entries, where they are kept. */
  readonly ids?: IdRows | undefined;
  /** When the rows that this export requests were requested, in microseconds since 1970. */
  readonly fetchedAtUs: number;
  /** Names of the inputs, by `IdEntry.source`. */
  readonly sources: readonly string[];
  /** Counts what fits no column. */
  readonly drift: DriftCounter;
}

/** Turns the records of a batch into rows. */
export function flattenBatch(batch: FetchedBatch, options: FlattenOptions): FlatBatch {
  const { raw, sources, drift, fetchedAtUs, changeRows } = options;
  const tables = options.tables.filter(({ whole }) => whole !== changesTable);
  const { origins } = batch;
  const { runs, unexported } = sortEntries(batch, sources);
  const blocks = runs.map((run) =>
    tables.map((shaped) => shapedRows(run, shaped, origins?.fetchedAtUs ?? fetchedAtUs)),
  );
  for (const run of runs) countDrift(run, drift, origins);
  const rows = new Map<string, readonly RowBlock[]>(
    tables.map(({ table }, at) => [table.name, blocks.flatMap((each) => each[at] ?? [])]),
  );
  const assets = tables.find(({ whole }) => whole === assetsTable);
  const changes = options.tables.find(({ whole }) => whole === changesTable);
  if (origins !== undefined && assets !== undefined && changes !== undefined && changeRows !== undefined) {
    const block = changeRows(origins, { assets, changes }, fetchedAtUs);
    rows.set(changes.table.name, block === undefined ? [] : [block]);
  }
  return {
    rows,
    raw: raw ? runs.map(({ rows, records }) => rows.rawRows(records)) : [],
    unexported: unexported.length === 0 ? [] : [blockOf(unexportedTable.columns, unexported)],
    ids: options.ids === undefined ? [] : [options.ids.of(batch.batch.entries)],
  };
}

// Nothing follows the loop: see docs/decisions/0022-what-does-not-help.md.
function sortEntries({ batch: { entries }, found }: FetchedBatch, sources: readonly string[]) {
  const lookups = found?.lookups;
  const unexported: Row[] = [];
  const runs: Run[] = [];
  let place = 0;
  for (let index = 0; index < entries.length; index += 1) {
    const isValid = entries.isValid(index);
    const rows = isValid ? lookups?.records(place) : undefined;
    if (lookups === undefined || rows === undefined) {
      const fate = { entry: entries.at(index), lookup: isValid ? lookups?.noRecord(place) : undefined };
      unexported.push(unexportedRow(fate, sources[entries.source(index)] ?? ''));
    } else {
      const record = lookups.index(place);
      const last = runs.at(-1);
      if (last?.rows === rows) last.records.push(record);
      else runs.push({ rows, records: [record] });
    }
    if (isValid) place += 1;
  }
  return { runs, unexported };
}

/** Records of one answer that follow one another in the input. */
interface Run {
  readonly rows: RecordRows;
  readonly records: number[];
}

/** @param times when the records were requested: by their place, or all at once */
function shapedRows(run: Run, { whole, pick }: ShapedTable, times: number | Float64Array): RowBlock {
  const { rows, records } = run;
  const timeOf = typeof times === 'number' ? () => times : (row: number) => times[records[row] ?? 0];
  return pick(rows.rows(whole, records), timeOf);
}

/** What differs was counted by the export that requested the record. */
function countDrift({ rows, records }: Run, drift: DriftCounter, origins: FetchedBatch['origins']): void {
  let at = 0;
  // One of each for all records, not one a record.
  const id = (): string => rows.id(records[at] ?? 0);
  const count = (found: Drift): void => {
    drift.add(found, id);
  };
  for (; at < records.length; at += 1) {
    if (origins?.carried[records[at] ?? 0] === 1) continue;
    rows.eachDrift(records[at] ?? 0, count);
  }
}
