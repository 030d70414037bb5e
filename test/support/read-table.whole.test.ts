import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { childRows, flattenAsset } from '../../src/core/records/flatten-asset.ts';
import { assetsTable, tables } from '../../src/core/records/columns.ts';
import { isJsonObject, type JsonObject, parseJson } from '../../src/lib/json/json.ts';
import { blockOf } from '../../src/core/records/row-block.ts';
import type { Column, ColumnType, Row, Table } from '../../src/core/records/table.ts';
import { sinkFor } from '../../src/core/formats/registry.ts';
import { generatedId, generatedRecord } from '../../packages/practice-service/src/generated/generated-assets.ts';
import { readTable, readTableFile, type TableFormat } from './read-table.ts';
import { tempFolder } from './temp-folder.ts';

const column = (name: string, type: ColumnType): Column => ({ name, type, nullable: true, path: [], about: '' });
const shop: Table = {
  name: 'shop',
  columns: [column('id', 'string'), column('price', 'decimal'), column('more', 'json')],
};

async function written(name: string, content: string | Uint8Array): Promise<string> {
  const file = join(await tempFolder(), name);
  await writeFile(file, content);
  return file;
}

async function encode(format: TableFormat, table: Table, rows: readonly Row[]): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  const output = { write: async (bytes: Uint8Array) => void pieces.push(Uint8Array.from(bytes)) };
  const options = { columns: table.columns, compression: 'none', escapeFormulas: false } as const;
  const encoder = await (await sinkFor(format)).open(output, options);
  await encoder.write(blockOf(table.columns, rows));
  await encoder.end();
  return Buffer.concat(pieces);
}

function recordAt(n: number): JsonObject {
  const record = parseJson(generatedRecord(generatedId(7, n)));
  if (!isJsonObject(record)) throw new TypeError('a generated record is an object');
  return record;
}

describe('reading a table back', () => {
  test('keeps null, the empty string and words that look like null apart in CSV', async () => {
    const file = await written(
      'a.csv',
      'id,price,more\n"",,\nNULL,1,"[""x""]"\n"two\nlines, ""quoted""",18446744073709551615,\n',
    );
    expect(await readTableFile(file, 'csv', shop)).toEqual([
      ['', null, null],
      ['NULL', '1', '["x"]'],
      ['two\nlines, "quoted"', '18446744073709551615', null],
    ]);
  });

  test('rounds no number of JSONL, in columns or inside json', async () => {
    const line =
      '{"id":"a","price":18446744073709551615,"more":{"n":9007199254740993,"f":0.030000000000000002,"x":1e400}}\n';
    const file = await written('a.jsonl.gz', gzipSync(line));
    const rows = await readTableFile(file, 'jsonl', shop);
    expect(rows).toEqual([['a', '18446744073709551615', '{"n":9007199254740993,"f":0.030000000000000002,"x":1e400}']]);
  });

  test.each(['csv', 'jsonl'] as const)('refuses a %s file with other columns', async (format) => {
    const file = await written(
      `a.${format}`,
      format === 'csv' ? 'id,cost,more\na,1,\n' : '{"id":"a","cost":1,"more":null}\n',
    );
    await expect(readTableFile(file, format, shop)).rejects.toThrow('has the columns id,cost,more');
  });

  test.each(tables.map((table) => [table.name, table] as const))(
    'gives the same values of %s from every format',
    async (_, table) => {
      const records = Array.from({ length: 600 }, (__, n) => recordAt(n));
      const rows = records.flatMap((record) =>
        table === assetsTable ? [flattenAsset(record).row] : childRows(table, record),
      );
      const parts = [rows.slice(0, rows.length / 2), [], rows.slice(rows.length / 2)];
      const folder = await tempFolder();
      for (const format of ['parquet', 'csv', 'jsonl'] as const) {
        await mkdir(join(folder, format, table.name), { recursive: true });
        for (const [index, part] of parts.entries()) {
          await writeFile(
            join(folder, format, table.name, `part-0000${index}.${format}`),
            await encode(format, table, part),
          );
        }
      }
      const [parquet, csv, jsonl] = await Promise.all(
        (['parquet', 'csv', 'jsonl'] as const).map((format) => readTable(folder, format, table)),
      );
      expect(csv?.rows.length).toBe(rows.length);
      expect(parquet).toEqual(csv);
      expect(jsonl).toEqual(csv);
    },
  );
});
