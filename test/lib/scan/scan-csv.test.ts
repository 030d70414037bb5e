import { parse } from 'csv-parse/sync';
import { stringify } from 'csv-stringify/sync';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { scanCsv } from '../../../src/lib/scan/scan-csv.ts';
import { readSizes, scan } from '../in-pieces.ts';

interface Options {
  readonly sizes?: readonly number[];
  readonly delimiter?: string;
  readonly longest?: number;
  readonly wants?: (column: number) => boolean;
}

/** Rows as `{ line, cells }`; rows without text are left out. */
function rowsOf(text: string, options: Options = {}): { line: number; cells: string[] }[] {
  const rows: { line: number; cells: string[] }[] = [];
  let cells: string[] = [];
  const scanner = scanCsv({
    delimiter: (options.delimiter ?? ',').charCodeAt(0),
    longest: options.longest ?? 1000,
    wants: options.wants ?? (() => true),
    onCell: ({ bytes, end, cut }) => cells.push(bytes.toString('utf8', 0, end) + (cut ? '…' : '')),
    onRow: ({ line, isBlank }) => {
      if (!isBlank) rows.push({ line, cells });
      cells = [];
    },
    fault: (why, line) => new Error(`${line}: ${why}`),
  });
  scan(scanner, Buffer.from(text), options.sizes ?? [7]);
  return rows;
}

const cell = fc.oneof(fc.string({ maxLength: 8 }), fc.constantFrom('a\nb', 'a\r\nb', '"', '""', ',', '', 'é', ' x '));
const table = fc
  .tuple(fc.integer({ min: 1, max: 4 }), fc.nat(6))
  .chain(([columns, rows]) =>
    fc.array(fc.array(cell, { minLength: columns, maxLength: columns }), { maxLength: rows }),
  );

describe('scanCsv', () => {
  it('reads what csv-stringify writes, whatever the reads are cut into', () => {
    const dialect = fc.record({ delimiter: fc.constantFrom(',', '\t', ';'), end: fc.constantFrom('\n', '\r\n', '\r') });
    fc.assert(
      fc.property(table, dialect, readSizes, (rows, { delimiter, end }, sizes) => {
        const text = stringify(rows, { delimiter, record_delimiter: end, quoted: true });
        const full = rows.filter((row) => row.some((value) => value !== ''));
        expect(rowsOf(text, { sizes, delimiter }).map(({ cells }) => cells)).toEqual(full);
      }),
      { seed: 33, numRuns: 1000 },
    );
  });

  it('agrees with csv-parse where quotes stand only where they must', () => {
    fc.assert(
      fc.property(table, readSizes, (rows, sizes) => {
        const text = stringify(rows, { record_delimiter: '\n' });
        const parsed = parse(text, { relax_column_count: true, skip_empty_lines: true, record_delimiter: '\n' });
        const full = parsed.filter((row) => row.some((value) => value !== ''));
        fc.pre(!/(^|[^\r])\r([^\n]|$)/.test(text.replaceAll(/"[^"]*"/g, '')));
        expect(rowsOf(text, { sizes }).map(({ cells }) => cells)).toEqual(full);
      }),
      { seed: 34, numRuns: 1000 },
    );
  });

  it('tells the line on which each row starts, past quoted line ends and blank lines', () => {
    for (const end of ['\n', '\r', '\r\n']) {
      const text = ['id,n', `a,"x${end}${end}y"`, '', 'b,', '"c"'].join(end);
      for (const sizes of [[1], [2], [1000]]) {
        expect(rowsOf(text, { sizes }).map(({ line, cells }) => `${line} ${cells[0] ?? ''}`)).toEqual([
          '1 id',
          '2 a',
          '6 b',
          '7 c',
        ]);
      }
    }
  });

  it('keeps only the wanted columns, and only the beginning of a cell that is too long', () => {
    const text = `${'x'.repeat(50)},${'y'.repeat(50)},z\n1,"2",3`;
    expect(rowsOf(text, { longest: 4, wants: (column) => column === 1 })).toEqual([
      { line: 1, cells: ['yyyy…'] },
      { line: 2, cells: ['2'] },
    ]);
  });

  it('takes a quote within a cell, and text behind a closing quote, as they stand', () => {
    expect(rowsOf('a"b,"c"d,"e"""').map(({ cells }) => cells)).toEqual([['a"b', 'cd', 'e"']]);
  });

  it('names the line of a quote that is never closed', () => {
    expect(() => rowsOf('a,b\n"c,d\ne,f\n')).toThrow('2: unclosed quote: it opens here');
  });
});
