import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { childRows, flattenAsset } from '../../../src/core/records/flatten-asset.ts';
import type { JsonObject } from '../../../src/lib/json/json.ts';
import { blockOf } from '../../../src/core/records/row-block.ts';
import type { Row, Table } from '../../../src/core/records/table.ts';
import { sinkFor } from '../../../src/core/formats/registry.ts';
import type { TableFormat } from '../../../src/exports/duckdb-files.ts';
import { parseObject } from '../../core/records/any-json.ts';
import { generatedId, generatedRecord } from '../../../packages/practice-service/src/generated/generated-assets.ts';

/** Records of all kinds, one with the extremes of each type, one with texts for JSON, and one of nothing but its id. */
const records: JsonObject[] = [
  ...Array.from({ length: 300 }, (_, n) => parseObject(generatedRecord(generatedId(11, n)))),
  parseObject(`{"id":"odd","interface":"","burnt":false,"royalty":{"percent":0.030000000000000002},
    "compression":{"seq":-9223372036854775808,"leaf_id":9223372036854775807},"token_info":{"supply":18446744073709551615},
    "content":{"json_uri":"null","metadata":{"name":"a,\\"b\\"\\r\\nc\\td\\\\n","symbol":"=1+1","description":"${'é😀'.repeat(600_000)}"}},
    "creators":[{"share":1,"address":""},{"address":null},{"address":"\\\\."}]}`),
  parseObject(`{"id":"texts","content":{"files":"x","links":"null","metadata":{"attributes":""}},"grouping":"[]",
    "creators":["x"],"authorities":[{"scopes":"{}"}]}`),
  // Blanks at the ends of cells that CSV leaves bare, and a cell of one blank.
  parseObject(`{"id":"blanks","interface":" ","content":{"json_uri":"x ","metadata":{"name":" x ","symbol":"\\tx","description":" \\t "}},
    "creators":[{"address":" x"},{"address":" "}]}`),
  parseObject('{"id":"bare"}'),
];

export function rowsOf(table: Table): Row[] {
  return records.flatMap((record) =>
    table.list === undefined ? [flattenAsset(record).row] : childRows(table, record),
  );
}

/** Times of all lengths, before 1970 too, as microseconds; and the texts of blanks. */
export const timesTable: Table = {
  name: 'times',
  columns: [
    { name: 'id', type: 'string', nullable: false, path: [], about: 'An id.' },
    { name: 'at', type: 'timestamp', nullable: true, path: [], about: 'A time.' },
    { name: 'text', type: 'string', nullable: true, path: [], about: 'A text.' },
  ],
};

const blankTexts = ['x', ' x ', '\tx', 'x ', ' ', '\t', '', ' "x" ', ' , ', null];

/** @param length of the table */
export function timeRows(length: number): Row[] {
  const start = Date.UTC(2026, 10, 20) * 1000;
  return Array.from({ length }, (_, n) => [
    String(n),
    n % 7 === 6 ? null : start + n * 86_400_000_001 * (n % 2 === 0 ? 1 : -1) * (n % 11 === 0 ? 0 : 1),
    blankTexts[n % blankTexts.length] ?? null,
  ]);
}

/** Writes the table's rows to three parts, the middle one empty, where an export has them. */
export async function writeParts(
  folder: string,
  table: Table,
  format: TableFormat,
  rows: readonly Row[] = rowsOf(table),
): Promise<void> {
  const half = Math.floor(rows.length / 2);
  for (const [number, part] of [rows.slice(0, half), [], rows.slice(half)].entries()) {
    const sink = await sinkFor(format);
    const pieces: Uint8Array[] = [];
    const encoder = await sink.open(
      { write: async (bytes) => void pieces.push(Uint8Array.from(bytes)) },
      { columns: table.columns, compression: 'none', escapeFormulas: false },
    );
    await encoder.write(blockOf(table.columns, part));
    await encoder.end();
    const file = join(folder, format, table.name, `part-0000${number}.${sink.extension}`);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, Buffer.concat(pieces));
  }
}
