import { tables } from '../../src/core/records/columns.ts';
import type { Table } from '../../src/core/records/table.ts';
import type { FlatBatch } from '../../src/core/work/flatten-batch.ts';
import { rawTable } from '../../src/core/work/part-build.ts';
import { sinkFor } from '../../src/core/formats/registry.ts';
import { type ByteOutput, compressions, type Format, type RowEncoder } from '../../src/core/formats/sink.ts';
import type { Stage } from './stage.ts';

type Rows = Parameters<RowEncoder['write']>[0];

const nowhere: ByteOutput = { write: async () => undefined };

/** What each sink takes, its bytes thrown away. */
export function encodeStages(flat: readonly FlatBatch[]): Stage[] {
  const [assets, ...children] = tables.map((table) => ({
    table,
    rows: flat.flatMap(({ rows }) => rows.get(table.name) ?? []),
  }));
  if (assets === undefined) throw new Error('there is no table');
  const raw = { table: rawTable, rows: flat.flatMap(({ raw }) => raw) };
  return [
    { name: 'encode CSV', kind: 'csv', run: () => encode('csv', [assets]) },
    { name: 'encode JSONL', kind: 'more', run: () => encode('jsonl', [assets]) },
    { name: 'encode Parquet (zstd)', kind: 'more', run: () => encode('parquet', [assets]) },
    { name: 'encode raw', kind: 'more', run: () => encode('raw', [raw]) },
    { name: 'encode child tables as CSV', kind: 'more', run: () => encode('csv', children) },
  ];
}

async function encode(
  format: Format,
  all: readonly { readonly table: Table; readonly rows: readonly Rows[] }[],
): Promise<void> {
  const sink = await sinkFor(format);
  for (const { table, rows } of all) {
    const encoder = await sink.open(nowhere, {
      columns: table.columns,
      compression: compressions[format][0],
      escapeFormulas: false,
    });
    for (const some of rows) await encoder.write(some);
    await encoder.end();
  }
}
