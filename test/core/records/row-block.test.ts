/// <reference lib="es2024.string" />
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  blockOf,
  type RowBlock,
  RowBlockBuilder,
  rowsOf,
  textMarks,
  textOfCell,
} from '../../../src/core/records/row-block.ts';
import type { Cell, Row } from '../../../src/core/records/table.ts';
import { anyRows } from '../../contract/formats/any-rows.ts';
import { hostileRows, hostileTable } from '../../contract/formats/hostile-rows.ts';

const { columns } = hostileTable;

function textOf(cell: Cell): string | null {
  if (cell === null) return null;
  if (Object.is(cell, -0)) return '-0';
  return typeof cell === 'string' ? cell.toWellFormed() : String(cell);
}

function textsOf(block: RowBlock): (string | null)[] {
  return Array.from({ length: block.rows * block.width }, (_, cell) => textOfCell(block, cell));
}

/** The marks of a string, by regular expressions. */
function marksOf(cell: string): number {
  const marks = [
    /[",\r\n]/.test(cell) ? textMarks.separators : 0,
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for.
    /["\\\u0000-\u001f]/.test(cell) ? textMarks.escapes : 0,
    cell.isWellFormed() ? 0 : textMarks.replaced,
  ];
  return marks.reduce((sum, mark) => sum + mark, 0);
}

function expectBlock(block: RowBlock, rows: readonly Row[]): void {
  expect(block.rows).toBe(rows.length);
  const cells = rows.flat();
  expect(textsOf(block)).toEqual(cells.map(textOf));
  for (const [cell, value] of cells.entries()) {
    const type = columns[cell % columns.length]?.type;
    if (type === 'string' && typeof value === 'string') expect(block.marks[cell]).toBe(marksOf(value));
  }
}

describe('a block of rows', () => {
  it('holds the text of hostile cells, and what is odd about strings', () => {
    const rows = hostileRows(columns);
    expectBlock(blockOf(columns, rows), rows);
  });

  it('holds the text of any cells', () => {
    fc.assert(
      fc.property(anyRows(columns, 15), (rows) => {
        expectBlock(blockOf(columns, rows), rows);
      }),
      { seed: 9, numRuns: 200 },
    );
  });

  it('gives a part of its rows, in the same bytes', () => {
    const rows = hostileRows(columns, 9);
    const block = blockOf(columns, rows);
    const part = rowsOf(block, 3, 7);
    expectBlock(part, rows.slice(3, 7));
    expect(part.made).toBe(block.made);
  });

  it('grows from nothing, and takes rows back', () => {
    const rows: Row[] = Array.from({ length: 200 }, (_, n) => [`row ${n}`, n]);
    const builder = new RowBlockBuilder(2, 0);
    for (const row of rows) builder.addCells(columns.slice(0, 2), row);
    builder.cutTo(150);
    builder.addCells(columns.slice(0, 2), ['again', null]);
    expect(textsOf(builder.block(new Uint8Array(0), 149))).toEqual(['row 149', '149', 'again', null]);
  });
});
