/// <reference lib="es2024.string" />
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { RowBlock } from '../../../src/core/records/row-block.ts';
import type { Cell, Column, Row } from '../../../src/core/records/table.ts';
import { anyRows } from '../../contract/formats/any-rows.ts';
import { encodeFile } from '../../contract/formats/encoded-file.ts';
import { hostileRows, hostileTable } from '../../contract/formats/hostile-rows.ts';
import { scattered } from '../../contract/formats/scattered-block.ts';
import { generatedId, generatedRecord } from '../../../packages/practice-service/src/generated/generated-assets.ts';

function columnsOf(...types: Column['type'][]): Column[] {
  return types.map((type, index) => ({ name: `c${index}`, type, nullable: true, path: [], about: '' }));
}

async function jsonl(rows: readonly Row[], columns: readonly Column[]): Promise<string> {
  return (await encodeFile('jsonl', rows, { columns })).bytes.toString('utf8');
}

/** JSON.stringify's text of a cell; it refuses what is no number of JavaScript, and prints no minus zero. */
function byLibrary(cell: Cell, type: Column['type']): string {
  if (type === 'json' && cell !== null) return String(cell);
  if (typeof cell === 'bigint') return String(cell);
  if (Object.is(cell, -0)) return '-0';
  return JSON.stringify(typeof cell === 'string' ? cell.toWellFormed() : cell);
}

function lineByLibrary(row: Row, columns: readonly Column[]): string {
  const members = columns.map(
    ({ name, type }, index) => `${JSON.stringify(name)}:${byLibrary(row[index] ?? null, type)}`,
  );
  return `{${members.join()}}\n`;
}

describe('the JSONL sink', () => {
  // A timestamp is written as text.
  const columns = hostileTable.columns.filter(({ type }) => type !== 'timestamp');

  it('makes of hostile rows what JSON.stringify makes of them', async () => {
    const rows = hostileRows(columns);
    expect((await jsonl(rows, columns)) === rows.map((row) => lineByLibrary(row, columns)).join('')).toBe(true);
  });

  it('makes of any rows what JSON.stringify makes of them', async () => {
    await fc.assert(
      fc.asyncProperty(anyRows(columns, 15), async (rows) => {
        expect(await jsonl(rows, columns)).toBe(rows.map((row) => lineByLibrary(row, columns)).join(''));
      }),
      { seed: 8, numRuns: 300 },
    );
  });

  it('names every column in every line, in order', async () => {
    expect(
      await jsonl(
        [
          [null, 'a', null],
          ['', null, true],
        ],
        columnsOf('string', 'string', 'boolean'),
      ),
    ).toBe('{"c0":null,"c1":"a","c2":null}\n{"c0":"","c1":null,"c2":true}\n');
  });

  it('embeds the text of json columns as it is', async () => {
    const text = '{"a": 1.50,"b":[18446744073709551615,1e400,-0],"c":"\\ud800"}';
    expect(await jsonl([[text]], columnsOf('json'))).toBe(`{"c0":${text}}\n`);
  });

  it('writes numbers digit for digit', async () => {
    const cells = [2n ** 63n - 1n, -(2n ** 63n), 2n ** 64n - 1n, -0, 1e308, 5e-324, 0.1];
    const columns = columnsOf('int64', 'int64', 'decimal', 'double', 'double', 'double', 'double');
    expect(await jsonl([cells], columns)).toBe(
      '{"c0":9223372036854775807,"c1":-9223372036854775808,"c2":18446744073709551615,"c3":-0,"c4":1e+308,"c5":5e-324,"c6":0.1}\n',
    );
  });

  it('escapes what JSON must and nothing else, so that a line is a line', async () => {
    expect(await jsonl([['"\\\n\r\0\u001f/\u2028é😀']], columnsOf('string'))).toBe(
      '{"c0":"\\"\\\\\\n\\r\\u0000\\u001f/\u2028é😀"}\n',
    );
  });

  it('names columns as JSON needs it', async () => {
    const [column] = columnsOf('int64');
    if (column === undefined) throw new Error('no column');
    expect(await jsonl([[1]], [{ ...column, name: 'a"b\n' }])).toBe('{"a\\"b\\n":1}\n');
  });

  it('puts U+FFFD for a lone surrogate, also beside another cell that has the other half', async () => {
    const { bytes, notes } = await encodeFile('jsonl', [['\ud83d', '\ude00']], {
      columns: columnsOf('string', 'string'),
    });
    expect(bytes.toString('utf8')).toBe('{"c0":"\ufffd","c1":"\ufffd"}\n');
    expect(notes.replacedSurrogates).toBe(2);
  });

  it('is empty without rows', async () => {
    expect(await jsonl([], columnsOf('string'))).toBe('');
  });
});

describe('a cell of any length', () => {
  const alphabet = 'abcdefghijklmnopqrstuvwxyz0123456789"é😀\\\n';
  const lengths = [...Array.from({ length: 80 }, (_, n) => n), 255, 256, 257, 4095, 300_000];
  // Cut through a pair at times: that half is written as U+FFFD.
  const rows = lengths.map((length) => [
    alphabet.slice(0, 36).repeat(9000).slice(0, length),
    alphabet.repeat(7500).slice(0, length),
  ]);

  it.each(['csv', 'jsonl'] as const)('is copied whole, also at the very end of its bytes: %s', async (format) => {
    const columns = columnsOf('string', 'string');
    const together = await encodeFile(format, rows, { columns });
    const alone = await encodeFile(format, rows, { columns, split: [1], place: scattered });
    expect(alone.bytes.equals(together.bytes)).toBe(true);
    if (format === 'jsonl') {
      const expected = rows.map((row) => lineByLibrary(row, columns)).join('');
      expect(together.bytes.toString('utf8') === expected).toBe(true);
    }
  });
});

describe('the raw sink', () => {
  const columns: Column[] = [{ name: 'record', type: 'json', nullable: false, path: [], about: '' }];

  it('writes the text of each record and a line feed', async () => {
    const texts = Array.from({ length: 300 }, (_, n) => generatedRecord(generatedId(5, n)));
    const { bytes } = await encodeFile(
      'raw',
      texts.map((text) => [text]),
      { columns, split: [7] },
    );
    expect(bytes.toString('utf8')).toBe(texts.map((text) => `${text}\n`).join(''));
  });

  it('copies neighbours of an answer together, and others alone, to the same lines', async () => {
    const gap = fc.constantFrom(',', ',', ',', '', ', ', ',\n,');
    const record = fc.oneof(
      fc.json({ maxDepth: 1 }),
      fc.nat(300).map((length) => `"${'x'.repeat(length * 100)}"`),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(gap, record), { minLength: 1, maxLength: 40 }), async (pieces) => {
        const rows = pieces.map(([, text]) => [text]);
        const source = Buffer.from(pieces.flat().join(''));
        const place = (block: RowBlock): RowBlock => {
          let at = 0;
          const from = pieces.map(([before, text]) => {
            const start = at + Buffer.byteLength(before);
            at = start + Buffer.byteLength(text);
            return start;
          });
          return { ...block, source, from: Int32Array.from(from) };
        };
        const { bytes } = await encodeFile('raw', rows, { columns, place });
        expect(bytes.toString('utf8') === rows.map(([text]) => `${text}\n`).join('')).toBe(true);
      }),
      { seed: 21, numRuns: 200 },
    );
  });

  it('takes no other table', async () => {
    await expect(encodeFile('raw', [], { columns: columnsOf('string') })).rejects.toThrow('one json column');
    await expect(encodeFile('raw', [], { columns: [...columns, ...columns] })).rejects.toThrow('one json column');
  });
});
