import { type RowBlock, textMarks, textOfCell } from '../records/row-block.ts';
import type { ColumnType } from '../records/table.ts';
import { timestampText } from '../records/texts.ts';
import {
  type CsvDialect,
  csvDialects,
  blockBytes,
  type ByteOutput,
  type EncoderNotes,
  type EncoderOptions,
  extensions,
  type RowEncoder,
  type Sink,
} from './sink.ts';
import { theKernel } from '../../lib/kernel/kernel.ts';
import { escapeFormulasSlot, quoteTextsSlot } from '../../lib/kernel/slots.ts';
import { requireCells, formatTexts, ByteBlocks } from './growing-bytes.ts';
import { KernelLines } from './kernel-lines.ts';

/** RFC 4180 with a header, LF and UTF-8; null is an empty cell and the empty string is `""`, unless the dialect says otherwise. */
export const csvSink: Sink = {
  extension: extensions.csv,
  compressesInside: false,
  blockBytes,
  open: async (output, options) => new CsvEncoder(output, options),
};

/** Names hold no null, no formula and no empty text, so no dialect writes them in another way. */
function headerOf(names: readonly string[]): string {
  return `${names.map((name) => (/[",\r\n]/.test(name) ? `"${name.replaceAll('"', '""')}"` : name)).join(',')}\n`;
}

/** Copies rows from blocks; docs/decisions/0004-csv-rows.md says why. */
class CsvEncoder implements RowEncoder {
  readonly #types: readonly ColumnType[];
  readonly #lines: ByteBlocks;
  readonly #dialect: CsvDialect;
  readonly #escapeFormulas: boolean;
  readonly #kernelLines: KernelLines;
  #formulaCells = 0;
  #replacedSurrogates = 0;

  constructor(output: ByteOutput, { columns, escapeFormulas, csvDialect }: EncoderOptions) {
    this.#dialect = csvDialects[csvDialect ?? 'rfc4180'];
    this.#types = columns.map(({ type }) => type);
    this.#escapeFormulas = escapeFormulas;
    this.#lines = new ByteBlocks(output);
    const { nullText, quoteTexts } = this.#dialect;
    this.#kernelLines = new KernelLines(
      this.#lines,
      { types: this.#types, texts: formatTexts([nullText]) },
      (kernel) => {
        kernel.setSlot(quoteTextsSlot, quoteTexts ? 1 : 0);
        kernel.setSlot(escapeFormulasSlot, escapeFormulas ? 1 : 0);
        kernel.run.encodeCsv();
      },
    );
    this.#add(headerOf(columns.map(({ name }) => name)));
  }

  async write(block: RowBlock): Promise<void> {
    requireCells(block, this.#types.length);
    for (let row = 0; row < block.rows; ) {
      const kernel = theKernel();
      const written = kernel === undefined ? 0 : this.#kernelLines.write(kernel, block, row);
      if (written === 0) this.#add(this.#line(block, row));
      row += Math.max(1, written);
      if (this.#lines.isFull) await this.#lines.flush();
    }
  }

  async end(): Promise<EncoderNotes> {
    await this.#lines.end();
    const { formulaCells, replacedSurrogates } = this.#kernelLines.notes;
    return {
      formulaCells: formulaCells + this.#formulaCells,
      replacedSurrogates: replacedSurrogates + this.#replacedSurrogates,
    };
  }

  #add(text: string): void {
    const bytes = Buffer.from(text);
    this.#lines.reserve(bytes.length);
    this.#lines.add(bytes);
  }

  // The long way.
  #line(block: RowBlock, row: number): string {
    const cells = this.#types.map((type, index) => this.#cell(block, row * block.width + index, type));
    return `${cells.join(',')}\n`;
  }

  #cell(block: RowBlock, cell: number, type: ColumnType): string {
    const text = textOfCell(block, cell);
    if (text === null) return this.#dialect.nullText;
    if (type === 'timestamp') return timestampText(Number(text));
    if (type === 'json') return this.#quoted(text, '');
    if (type !== 'string') return text;
    if (((block.marks[cell] ?? 0) & textMarks.replaced) !== 0) this.#replacedSurrogates += 1;
    const isFormula = startsFormula.test(text);
    if (isFormula) this.#formulaCells += 1;
    return this.#quoted(text, isFormula && this.#escapeFormulas ? "'" : '');
  }

  #quoted(text: string, disarm: string): string {
    const isQuoted = this.#dialect.quoteTexts || text === '' || /[",\r\n]/.test(text);
    return isQuoted ? `"${disarm}${text.replaceAll('"', '""')}"` : disarm + text;
  }
}

/**
 * What a spreadsheet may run: the characters of OWASP's "CSV Injection" and the full-width forms of its four signs, the same as csv-stringify's
 * `escape_formulas`. Only strings are meant: a negative number is none.
 */
const startsFormula = /^[=+\-@\t\r\uff1d\uff0b\uff0d\uff20]/;
