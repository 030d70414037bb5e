import { type Entries, entryStates, type IdEntry, invalidState, stateOfInvalid } from '../ids/entries.ts';
import { idsTable, type UnexportedOutcome } from '../records/beside-tables.ts';
import { marksOf, type RowBlock, RowBlockBuilder } from '../records/row-block.ts';
import { MadeText, utf8Text } from '../records/texts.ts';
import type { Row } from '../records/table.ts';
import type { NoRecord } from '../client/lookups.ts';

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
