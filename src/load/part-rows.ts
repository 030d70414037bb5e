import type { Row, Table } from '../assets/table.ts';
import { blockOf } from '../assets/row-block.ts';
import { cellOfParquet } from '../assets/parquet-cell.ts';
import { codecOf, decompress } from '../lib/decompress.ts';
import { readParquet } from '../lib/parquet-rows.ts';
import { csvSink } from '../sinks/csv.ts';
import { pathIn } from '../store/export-folder.ts';
import type { FileStore } from '../store/file-store.ts';
import type { OpenFile } from '../store/open-file.ts';

const pieceBytes = 1 << 20;

/** A part's file in the folder of its export. */
export interface PartPath {
  readonly files: FileStore;
  readonly folder: string;
  /** Relative to the folder. */
  readonly path: string;
}

/** The bytes of a part's file, decompressed. */
export async function* plainBytes({ files, folder, path }: PartPath): AsyncGenerator<Uint8Array, void, void> {
  const file = await files.open(pathIn(folder, path), 'read');
  try {
    yield* decompress(bytesOf(file), codecOf(path));
  } finally {
    await file.close();
  }
}

/** The rows of a part's Parquet file as CSV for PostgreSQL, with a header. */
export async function* csvOfParquet(part: PartPath, table: Table): AsyncGenerator<Uint8Array, void, void> {
  const file = await part.files.open(pathIn(part.folder, part.path), 'read');
  const pieces: Uint8Array[] = [];
  const output = { write: async (bytes: Uint8Array) => void pieces.push(Uint8Array.from(bytes)) };
  try {
    const byteLength = await file.size();
    const slice = async (start: number, end = byteLength): Promise<ArrayBuffer> =>
      new Uint8Array(await file.read(start, end - start)).buffer;
    const encoder = await csvSink.open(output, {
      columns: table.columns,
      compression: 'none',
      escapeFormulas: false,
      csvDialect: 'postgres',
    });
    for await (const { columns: names, rows } of readParquet({ byteLength, slice })) {
      const places = table.columns.map(({ name }) => names.indexOf(name));
      const cells = (row: readonly unknown[]): Row =>
        table.columns.map((column, index) => cellOfParquet(row[places[index] ?? -1], column));
      for (let start = 0; start < rows.length; start += 1000) {
        await encoder.write(blockOf(table.columns, rows.slice(start, start + 1000).map(cells)));
        yield* pieces.splice(0);
      }
    }
    await encoder.end();
    yield* pieces.splice(0);
  } finally {
    await file.close();
  }
}

async function* bytesOf(file: OpenFile): AsyncGenerator<Uint8Array, void, void> {
  for (let position = 0; ; ) {
    const piece = await file.read(position, pieceBytes);
    if (piece.length === 0) return;
    yield piece;
    position += piece.length;
  }
}
