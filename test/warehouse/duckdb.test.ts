import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { DuckDBInstance, type DuckDBValue } from '@duckdb/node-api';
import { describe, expect, it } from 'vitest';
import { childRows } from '../../src/assets/child-tables.ts';
import { tables } from '../../src/assets/columns.ts';
import { flattenAsset } from '../../src/assets/flatten-asset.ts';
import type { JsonObject } from '../../src/assets/json.ts';
import type { Cell, ColumnType, Row, Table } from '../../src/assets/table.ts';
import { sinkFor } from '../../src/sinks/registry.ts';
import { tableFormats, type TableFormat } from '../../src/warehouse/dialect.ts';
import { ddlFor, loadStatementFor } from '../../src/warehouse/dialects.ts';
import { parseObject } from '../assets/any-json.ts';
import { generatedId, generatedRecord } from '../support/generated-assets.ts';
import { tempFolder } from '../support/temp-folder.ts';

const records: JsonObject[] = [
  ...Array.from({ length: 300 }, (_, n) => parseObject(generatedRecord(generatedId(11, n)))),
  parseObject(`{"id":"odd","interface":"","burnt":false,"royalty":{"percent":0.030000000000000002},
    "compression":{"seq":-9223372036854775808,"leaf_id":9223372036854775807},"token_info":{"supply":18446744073709551615},
    "content":{"json_uri":"null","metadata":{"name":"a,\\"b\\"\\r\\nc\\td","symbol":"=1+1","description":"${'é😀'.repeat(600_000)}"}},
    "creators":[{"share":1,"address":""},{"address":null}]}`),
  parseObject('{"id":"bare"}'),
];

function rowsOf(table: Table): Row[] {
  return records.flatMap((record) =>
    table.list === undefined ? [flattenAsset(record).row] : childRows(table, record),
  );
}

async function writePart(
  folder: string,
  table: Table,
  part: { rows: readonly Row[]; format: TableFormat; number: number },
): Promise<void> {
  const sink = sinkFor(part.format);
  const pieces: Uint8Array[] = [];
  const encoder = await sink.open(
    { write: async (bytes) => void pieces.push(bytes.slice()) },
    { columns: table.columns, compression: 'none', escapeFormulas: false },
  );
  await encoder.write(part.rows);
  await encoder.end();
  const file = join(folder, part.format, table.name, `part-0000${part.number}.${sink.extension}`);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, Buffer.concat(pieces));
}

/** A cell as DuckDB gives it back, its numbers as text and json columns parsed. */
function plain(value: DuckDBValue | Cell, type: ColumnType): unknown {
  if (value === null) return null;
  // DuckDB's JSON reader prints the numbers inside json columns of JSONL anew: compared as JavaScript reads them.
  if (type === 'json') return JSON.stringify(JSON.parse(String(value)));
  if (type === 'double') return Number(value);
  return type === 'boolean' ? value : String(value);
}

describe.each(tableFormats)('the DuckDB statements for %s', (format) => {
  it.each(tables.map((table) => [table.name, table] as const))('load %s as it was written', async (_, table) => {
    const folder = await tempFolder();
    const rows = rowsOf(table);
    const half = Math.floor(rows.length / 2);
    for (const [number, part] of [rows.slice(0, half), [], rows.slice(half)].entries()) {
      await writePart(folder, table, { rows: part, format, number });
    }
    const instance = await DuckDBInstance.create(':memory:', { threads: '1' });
    const connection = await instance.connect();
    await connection.run(ddlFor('duckdb', table));
    await connection.run(loadStatementFor('duckdb', { table, format, folder }));
    const loaded = (await connection.runAndReadAll(`SELECT * FROM "${table.name}"`)).getRows();
    connection.closeSync();
    instance.closeSync();

    const shown = (all: readonly (readonly (DuckDBValue | Cell)[])[]): unknown[] =>
      all.map((row) => table.columns.map((column, at) => plain(row[at] ?? null, column.type)));
    expect(shown(loaded)).toEqual(shown(rows));
    if (format !== 'jsonl') {
      // The others keep the text.
      const json = table.columns.flatMap((column, at) => (column.type === 'json' ? [at] : []));
      expect(loaded.map((row) => json.map((at) => row[at]))).toEqual(rows.map((row) => json.map((at) => row[at])));
    }
  });
});
