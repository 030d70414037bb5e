import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { blockOf } from '../../../src/core/records/row-block.ts';
import type { Column, Row } from '../../../src/core/records/table.ts';
import { sinkFor } from '../../../src/core/formats/registry.ts';
import { compressions, type Format, formats } from '../../../src/core/formats/sink.ts';
import { anyRows } from './any-rows.ts';
import { encodeFile } from './encoded-file.ts';
import { sampled, sampledRuns } from '../../model/support/sample.ts';
import { hostileRows, hostileTable } from './hostile-rows.ts';
import { scattered } from './scattered-block.ts';

const rawColumns: readonly Column[] = [{ name: 'record', type: 'json', nullable: false, path: [], about: '' }];

/** Raw takes a table of its own, the other formats any. */
function columnsFor(format: Format): readonly Column[] {
  return format === 'raw' ? rawColumns : hostileTable.columns;
}

/** Enough rows for several batches and row groups, of few distinct values. */
function manyRows(columns: readonly Column[], count: number): Row[] {
  const few = columns.map(({ type, name }) => (n: number) => {
    if (name === 'id') return `id ${n}`;
    if (name.startsWith('empty_') || (n % 7 === 3 && name !== 'record')) return null;
    if (type === 'boolean') return n % 3 === 0;
    return type === 'string' ? `text ${n % 11}é` : type === 'json' ? `{"n":${n}}` : n;
  });
  return Array.from({ length: count }, (_, n) => few.map((cell) => cell(n)));
}

describe.each(formats)('%s', (format) => {
  const columns = columnsFor(format);

  it('makes the same bytes of the same rows however they arrive', async () => {
    await fc.assert(
      fc.asyncProperty(anyRows(columns, 12), fc.array(fc.nat(5), { minLength: 1 }), async (rows, split) => {
        const whole = await encodeFile(format, rows, { columns });
        const cut = await encodeFile(format, rows, { columns, split });
        expect(cut.bytes.equals(whole.bytes)).toBe(true);
        expect(cut.notes).toEqual(whole.notes);
      }),
      { seed: 3, ...sampledRuns(160) },
    );
  });

  it('makes the same bytes of the same rows wherever their text lies', async () => {
    const hostile = format === 'raw' ? manyRows(columns, 300) : hostileRows(columns);
    const hostileFile = await encodeFile(format, hostile, { columns });
    const hostileScattered = await encodeFile(format, hostile, { columns, place: scattered });
    expect(hostileScattered.bytes.equals(hostileFile.bytes)).toBe(true);
    await fc.assert(
      fc.asyncProperty(anyRows(columns, 12), async (rows) => {
        const whole = await encodeFile(format, rows, { columns });
        const apart = await encodeFile(format, rows, { columns, place: scattered, split: [5] });
        expect(apart.bytes.equals(whole.bytes)).toBe(true);
        expect(apart.notes).toEqual(whole.notes);
      }),
      { seed: 7, ...sampledRuns(160) },
    );
  });

  it('refuses rows of another table', async () => {
    const sink = await sinkFor(format);
    const output = { write: () => Promise.resolve() };
    const encoder = await sink.open(output, { columns, compression: 'none', escapeFormulas: false });
    await expect(encoder.write(blockOf([...columns, ...columns], [[]]))).rejects.toThrow('columns');
  });

  it('cuts batches and row groups by the rows alone', async () => {
    const rows = manyRows(columns, 40_000);
    const whole = await encodeFile(format, rows, { columns });
    for (const split of sampled([[1, 1022, 3, 5000], [999]], 2)) {
      const cut = await encodeFile(format, rows, { columns, split });
      expect(cut.bytes.equals(whole.bytes), `split ${split.join()}`).toBe(true);
    }
  });

  it('makes the same bytes with each codec again', async () => {
    const rows = format === 'raw' ? manyRows(columns, 3) : hostileRows(columns);
    for (const compression of compressions[format]) {
      const first = await encodeFile(format, rows, { columns, compression });
      const again = await encodeFile(format, rows, { columns, compression, split: [7] });
      expect(again.bytes.equals(first.bytes), compression).toBe(true);
    }
  });

  it('gives blocks of one size, but for the last', async () => {
    const rows = manyRows(columns, format === 'raw' ? 18_000 : 6000).map((row, n) =>
      row.map((cell, index) => (columns[index]?.type === 'json' ? JSON.stringify([n, String(n).repeat(200)]) : cell)),
    );
    const { blockBytes } = await sinkFor(format);
    const { bytes, blocks } = await encodeFile(format, rows, { columns, compression: 'none', split: [10] });
    expect(blocks.length).toBeGreaterThan(2);
    expect(blocks.slice(0, -1)).toEqual(Array(Math.floor((bytes.length - 1) / blockBytes)).fill(blockBytes));
  });

  it('takes two files at once without mixing them', async () => {
    const rows = manyRows(columns, 5000);
    const alone = [rows, rows.slice(1)].map((part) => encodeFile(format, part, { columns }));
    const together = await Promise.all(
      [rows, rows.slice(1)].map((part) => encodeFile(format, part, { columns, split: [500] })),
    );
    for (const [index, file] of together.entries())
      expect(file.bytes.equals((await alone[index])?.bytes ?? Buffer.of())).toBe(true);
  });

  it('passes on what the output says when it cannot write', async () => {
    const sink = await sinkFor(format);
    const full = new Error('no space left');
    const encoder = await sink.open(
      { write: () => Promise.reject(full) },
      { columns, compression: compressions[format][0], escapeFormulas: false },
    );
    const writing = (async () => {
      for (let turn = 0; turn < 3; turn += 1) await encoder.write(blockOf(columns, manyRows(columns, 20_000)));
      await encoder.end();
    })();
    await expect(writing).rejects.toBe(full);
  });
});
