import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { messageOf } from '../../../src/lib/export-error.ts';
import { CsvCounter } from '../../../src/lib/scan/csv-counter.ts';
import { csvDialectNames } from '../../../src/lib/csv-dialect.ts';
import { csvSink } from '../../../src/core/formats/csv.ts';
import { blockOf } from '../../../src/core/records/row-block.ts';
import type { Row } from '../../../src/core/records/table.ts';
import { anyRows } from '../../contract/formats/any-rows.ts';
import { hostileRows, hostileTable } from '../../contract/formats/hostile-rows.ts';
import { readSizes, scan } from '../in-pieces.ts';

/** Rows and header, or what is wrong. */
function counted(bytes: Uint8Array, sizes: readonly number[]): { rows: number; header: string } | string {
  const counter = new CsvCounter();
  try {
    scan(counter, bytes, sizes);
    return { rows: counter.rows, header: String(counter.header) };
  } catch (error) {
    return messageOf(error);
  }
}

/** Rows without the header, and its names; undefined for what csv-parse refuses. */
function parsed(text: string | Buffer): { rows: number; columns: readonly string[] } | undefined {
  try {
    const [columns = [], ...rows] = parse(text, { record_delimiter: '\n' });
    return { rows: rows.length, columns };
  } catch {
    return undefined;
  }
}

describe('CsvCounter', () => {
  it('takes and refuses what csv-parse does, and counts the same rows, whatever the reads are cut into', () => {
    const token = fc.constantFrom(
      '"',
      '"',
      '""',
      ',',
      ',',
      '\n',
      'a',
      '0',
      ' ',
      '\r',
      'é',
      '\\N',
      '"a"',
      '"\n"',
      'a,b\n',
    );
    let refused = 0;
    fc.assert(
      fc.property(fc.array(token, { maxLength: 16 }), readSizes, (tokens, sizes) => {
        const text = `${tokens.join('')}\n`;
        const expected = parsed(text);
        const found = counted(Buffer.from(text), sizes);
        if (typeof found === 'string') {
          refused += 1;
          expect(expected, found).toBeUndefined();
        } else expect({ rows: found.rows, columns: parsed(`${found.header}\n`)?.columns }).toEqual(expected);
      }),
      { seed: 41, numRuns: 20_000 },
    );
    expect(refused).toBeGreaterThan(5_000);
    expect(refused).toBeLessThan(15_000);
  });

  it.each(csvDialectNames)('counts the rows that the CSV sink writes: %s', async (csvDialect) => {
    const { columns } = hostileTable;
    const check = async (rows: readonly Row[], sizes: readonly number[]): Promise<void> => {
      const pieces: Uint8Array[] = [];
      const output = { write: async (bytes: Uint8Array) => void pieces.push(Uint8Array.from(bytes)) };
      const options = { columns, compression: 'none', escapeFormulas: false, csvDialect } as const;
      const encoder = await csvSink.open(output, options);
      await encoder.write(blockOf(columns, rows));
      await encoder.end();
      const bytes = Buffer.concat(pieces);
      expect(counted(bytes, sizes)).toEqual({ rows: rows.length, header: columns.map(({ name }) => name).join() });
      expect(parsed(bytes)?.rows).toBe(rows.length);
    };
    await check(hostileRows(columns), [65_536]);
    await fc.assert(fc.asyncProperty(anyRows(columns, 4), readSizes, check), { seed: 42, numRuns: 50 });
  });

  it.each([
    ['', 'the header is cut'],
    ['a,b', 'the header is cut'],
    ['a,b\n1,2', 'row 1 is cut'],
    ['a,b\n1,"2', 'row 1 has an unclosed quote'],
    ['a,b\n1,2\n1\n', 'row 2 has 1 cells, but the header has 2'],
    ['a,b\n1,2,3\n', 'row 1 has 3 cells, but the header has 2'],
    ['a,b\n1,2\n\n', 'row 2 has 1 cells, but the header has 2'],
    ['a,b\n1,2"\n', 'row 1 has a quote inside an unquoted cell'],
    ['a,b\n1,"2"3\n', 'row 1 has text after a closing quote'],
    ['a,b\n1,"2"\r\n', 'row 1 has text after a closing quote'],
    ['a"b\n', 'the header has a quote inside an unquoted cell'],
  ])('says what is wrong with %j', (text, why) => {
    for (const size of [1, 2, 100]) expect(counted(Buffer.from(text), [size])).toBe(why);
  });

  it('holds no more of a header without an end than its limit, and refuses it', () => {
    const bytes = Buffer.alloc((1 << 20) + 1, 'x');
    expect(counted(Buffer.concat([bytes.subarray(1), Buffer.from('\n')]), [65_536])).toMatchObject({ rows: 0 });
    expect(counted(Buffer.concat([bytes, Buffer.from('\n')]), [65_536])).toBe(
      'the header is longer than 1048576 bytes',
    );
  });
});
