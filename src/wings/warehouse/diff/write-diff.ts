import { openTableFile } from '../../../core/work/part-build.ts';
import type { Format } from '../../../core/formats/sink.ts';
import { blockOf } from '../../../core/records/row-block.ts';
import { type Row, type Table } from '../../../core/records/table.ts';
import type { FileFacts } from '../../../places/export/export-facts.ts';
import type { FileStore } from '../../../places/files/file-store.ts';

/** Rows of a file. */
const rowsPerPart = 100_000;

/** Rows that are encoded at a time. */
const rowsPerBlock = 1000;

export interface DiffOutput {
  readonly files: FileStore;
  readonly folder: string;
  readonly format: Format;
}

/** Writes a table into files under temporary names: at least one, as an empty table loads, too. */
export async function writeTable(
  { files, folder, format }: DiffOutput,
  table: Table,
  rows: AsyncIterable<Row[]>,
): Promise<FileFacts[]> {
  const done: FileFacts[] = [];
  const csvDialect = 'rfc4180';
  const options = { files, folder, compression: {}, escapeFormulas: false, csvDialect } as const;
  let open: Awaited<ReturnType<typeof openTableFile>> | undefined;
  const finish = async (part: NonNullable<typeof open>): Promise<void> => {
    await part.encoder.end();
    done.push({ format, table: table.name, part: done.length, rows: part.rows, ...(await part.file.finish()) });
    open = undefined;
  };
  try {
    for await (const block of blocks(rows)) {
      open ??= await openTableFile(options, { format, table, part: done.length });
      await open.encoder.write(blockOf(table.columns, block));
      open.rows += block.length;
      if (open.rows >= rowsPerPart) await finish(open);
    }
    if (done.length === 0) open ??= await openTableFile(options, { format, table, part: 0 });
    if (open !== undefined) await finish(open);
  } finally {
    await open?.file.discard();
  }
  return done;
}

async function* blocks(rows: AsyncIterable<Row[]>): AsyncGenerator<Row[], void, void> {
  for await (const some of rows) {
    for (let start = 0; start < some.length; start += rowsPerBlock) yield some.slice(start, start + rowsPerBlock);
  }
}
