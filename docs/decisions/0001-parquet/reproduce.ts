/**
 * What decides between the Parquet encoders: speed and size on rows of `assets`, and whether what they write is right.
 *
 *     node --import ts-blank-space/register docs/decisions/0001-parquet/reproduce.ts
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { parquetMetadata } from 'hyparquet';
import { assetsTable } from '../../../src/core/records/columns.ts';
import { flattenAsset } from '../../../src/core/records/flatten-asset.ts';
import { isJsonObject, parseJson } from '../../../src/lib/json/json.ts';
import type { Column, Row } from '../../../src/core/records/table.ts';
import { generatedId, generatedRecord } from '../../../packages/practice-service/src/generated/generated-assets.ts';
import { type Encode, encoders } from './encoders.ts';

const rowCount = 40_000;
const rounds = 5;

const rows: Row[] = Array.from({ length: rowCount }, (_, n) => {
  const record = parseJson(generatedRecord(generatedId(1, n)));
  if (!isJsonObject(record)) throw new Error('a record is no object');
  return flattenAsset(record).row;
});

function column(name: string, type: Column['type']): Column {
  return { name, type, nullable: true, path: [], about: '' };
}

const folder = await mkdtemp(join(tmpdir(), 'parquet-'));
const duckdb = await (await DuckDBInstance.create(':memory:')).connect();

/** The first cell of a query over a file of the given bytes, or the reader's objection. */
async function ask(bytes: Buffer, sql: string): Promise<string> {
  const file = join(folder, 'rows.parquet');
  await writeFile(file, bytes);
  try {
    const [row] = (await duckdb.runAndReadAll(sql.replace('$file', `'${file}'`))).getRows();
    return String(row?.[0]);
  } catch (error) {
    return `refused (${String(error).slice(0, 60)}…)`;
  }
}

async function attempt(encode: Encode, columns: readonly Column[], cells: readonly Row[]): Promise<Buffer | string> {
  try {
    return await encode(columns, cells);
  } catch (error) {
    return `not encoded (${String(error).slice(0, 60)}…)`;
  }
}

const questions: readonly {
  readonly name: string;
  readonly wanted: string;
  readonly ask: (encode: Encode) => Promise<string>;
}[] = [
  {
    name: '2^53+1 in an INT64 column',
    wanted: '9007199254740993',
    ask: async (encode) => {
      const bytes = await attempt(encode, [column('n', 'int64')], [[2n ** 53n + 1n]]);
      return typeof bytes === 'string' ? bytes : ask(bytes, 'SELECT n::VARCHAR FROM read_parquet($file)');
    },
  },
  {
    name: 'rows found by WHERE name = 😀 among Ａ (U+FF21)',
    wanted: '1',
    ask: async (encode) => {
      const bytes = await attempt(encode, [column('name', 'string')], [['Ａ'], ['😀']]);
      return typeof bytes === 'string'
        ? bytes
        : ask(bytes, "SELECT count(*) FROM read_parquet($file) WHERE name = '😀'");
    },
  },
  {
    name: 'a file of no rows',
    wanted: '0',
    ask: async (encode) => {
      const bytes = await attempt(encode, [column('n', 'int64')], []);
      return typeof bytes === 'string' ? bytes : ask(bytes, 'SELECT count(*) FROM read_parquet($file)');
    },
  },
  {
    name: 'type of a u64 column',
    wanted: 'DECIMAL(20,0)',
    ask: async (encode) => {
      const bytes = await attempt(encode, [column('n', 'decimal')], [[2n ** 64n - 1n]]);
      return typeof bytes === 'string' ? bytes : ask(bytes, 'SELECT typeof(n) FROM read_parquet($file)');
    },
  },
  {
    name: 'page types',
    wanted: 'DATA_PAGE',
    ask: async (encode) => {
      const bytes = await attempt(encode, [column('s', 'string')], [['a'], ['b']]);
      if (typeof bytes === 'string') return bytes;
      const [chunk] = parquetMetadata(new Uint8Array(bytes).buffer).row_groups[0]?.columns ?? [];
      const types = new Set(
        chunk?.meta_data?.encoding_stats
          ?.map(({ page_type }) => page_type)
          .filter((type) => type !== 'DICTIONARY_PAGE'),
      );
      return types.size === 0 ? 'not said' : [...types].join();
    },
  },
];

for (const { name, wanted, ask: answer } of questions) {
  console.log(`\n${name}: ${wanted} is right`);
  for (const [library, encode] of Object.entries(encoders))
    console.log(`  ${library.padEnd(26)} ${await answer(encode)}`);
}

console.log(
  `\n${rowCount} rows of ${assetsTable.columns.length} columns, median of ${rounds} rounds, Node ${process.version}`,
);
const taken = new Map<string, number[]>();
const sizes = new Map<string, number>();
for (let round = 0; round < rounds; round += 1) {
  for (const [library, encode] of Object.entries(encoders)) {
    const start = process.cpuUsage();
    const bytes = await encode(assetsTable.columns, rows);
    const { user, system } = process.cpuUsage(start);
    taken.set(library, [...(taken.get(library) ?? []), user + system]);
    sizes.set(library, bytes.length);
  }
}
for (const [library, cpuUs] of taken) {
  const median = [...cpuUs].sort((a, b) => a - b)[Math.floor(rounds / 2)] ?? Number.NaN;
  const bytesPerRow = Math.round((sizes.get(library) ?? 0) / rowCount);
  console.log(
    `  ${library.padEnd(26)} ${Math.round((rowCount / median) * 1e6)} rows a CPU second, ${bytesPerRow} bytes a row`,
  );
}
duckdb.closeSync();
await rm(folder, { recursive: true });
