import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cellsOf, blockOf } from '../../src/core/records/row-block.ts';
import { assetsTable, tables } from '../../src/core/records/columns.ts';
import { flattenAsset } from '../../src/core/records/flatten-asset.ts';
import { childTables, recordPlan } from '../../src/core/records/scan/record-plan.ts';
import { RecordRows } from '../../src/core/records/scan/record-rows.ts';
import type { Row } from '../../src/core/records/table.ts';
import { RecordTexts } from '../../src/exports/record-text.ts';
import { CellRows, RowBatch } from '../../src/exports/row-batch.ts';
import { generatedId, generatedRecord } from '../../packages/practice-service/src/generated/generated-assets.ts';
import { parseObject } from '../core/records/any-json.ts';
import { anyRecord } from '../core/records/any-record.ts';

/** The rows of every table, read from these rows of `assets`: as the cells that a file holds of them, or as records. */
function rowsFrom(rows: readonly Row[], addTo: (batch: RowBatch, row: number) => void): (readonly Row[])[] {
  const batch = new RowBatch(true);
  for (let row = 0; row < rows.length; row += 1) addTo(batch, row);
  const plan = recordPlan(childTables);
  const made = batch.rows((body) => new RecordRows(body, plan));
  return tables.map((table) => {
    const block = made.rows(
      table,
      rows.map((_, row) => row),
    );
    return Array.from({ length: block.rows }, (_, row) => cellsOf(block, row, table.columns));
  });
}

const columns = assetsTable.columns;

function requireSame(rows: readonly Row[]): void {
  const block = blockOf(columns, rows);
  const [cells, records] = [new CellRows(block), new RecordTexts(block)];
  const ofCells = rowsFrom(rows, (batch, row) => {
    // A record among them, as of an id that is requested again, and rows that waited for their ids.
    if (row % 3 === 0) batch.addPacked(cells.packed(row));
    else if (row % 5 === 4) batch.addRecord(records.of(row));
    else cells.addTo(batch, row);
  });
  const ofRecords = rowsFrom(rows, (batch, row) => {
    batch.addRecord(records.of(row));
  });
  expect(ofCells).toEqual(ofRecords);
}

describe('rows that are carried over as cells', () => {
  it('make the same rows of every table as the records that are rebuilt from them', () => {
    fc.assert(
      fc.property(fc.array(anyRecord, { maxLength: 4 }), (records) => {
        // What a file holds of a lone surrogate is U+FFFD; an id is base58.
        requireSame(
          records.map((record, at) => [
            generatedId(1, at),
            ...flattenAsset(record)
              .row.slice(1)
              .map((cell) => (typeof cell === 'string' ? cell.toWellFormed() : cell)),
          ]),
        );
      }),
      { seed: 7, numRuns: 150 },
    );
  });

  it('are so for ordinary records, in one batch after another', () => {
    const rows = Array.from(
      { length: 60 },
      (_, n) => flattenAsset(parseObject(generatedRecord(generatedId(1, n)))).row,
    );
    requireSame(rows);
    requireSame(rows.toReversed());
  });
});
