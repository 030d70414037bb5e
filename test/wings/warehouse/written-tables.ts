import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { childRows } from '../../../src/core/records/child-tables.ts';
import { flattenAsset } from '../../../src/core/records/flatten-asset.ts';
import type { JsonObject } from '../../../src/lib/json/json.ts';
import { blockOf } from '../../../src/core/records/row-block.ts';
import type { Row, Table } from '../../../src/core/records/table.ts';
import { sinkFor } from '../../../src/core/formats/registry.ts';
import type { TableFormat } from '../../../src/exports/table-source.ts';
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
  parseObject('{"id":"bare"}'),
];

export function rowsOf(table: Table): Row[] {
  return records.flatMap((record) =>
    table.list === undefined ? [flattenAsset(record).row] : childRows(table, record),
  );
}

/** Writes the table's rows to three parts, the middle one empty, where an export has them. */
export async function writeParts(folder: string, table: Table, format: TableFormat): Promise<void> {
  const rows = rowsOf(table);
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
