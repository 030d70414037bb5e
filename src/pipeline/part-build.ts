import type { RowBlock } from '../assets/row-block.ts';
import type { Table } from '../assets/table.ts';
import type { CsvDialectName } from '../lib/csv-dialect.ts';
import type { Compression, EncoderNotes, Format, RowEncoder } from '../sinks/sink.ts';
import { sinkFor } from '../sinks/registry.ts';
import type { FileFacts } from '../store/export-facts.ts';
import { exportPaths, pathIn } from '../store/export-folder.ts';
import { type FileStore, syncFoldersOf } from '../store/file-store.ts';
import { openPartFile, type PartFile } from '../store/part-file.ts';
import type { FlatSlice } from './flatten-slice.ts';
import { unexportedTable } from './unexported.ts';

/** What a raw file holds: the record as it came. */
export const rawTable: Table = {
  name: 'assets',
  columns: [{ name: 'record', type: 'json', nullable: false, path: [], about: 'The record as the service sent it.' }],
};

export interface PartOptions {
  readonly files: FileStore;
  readonly folder: string;
  readonly formats: readonly Format[];
  readonly tables: readonly Table[];
  readonly compression: Readonly<Record<Format, Compression>>;
  readonly escapeFormulas: boolean;
  readonly csvDialect: CsvDialectName;
}

/** The files of one part in the making. */
export interface PartBuild {
  write(slice: FlatSlice): Promise<void>;
  /** Ends, syncs and names every file. They count once the part is in the checkpoint. */
  finish(): Promise<{ files: FileFacts[]; notes: EncoderNotes }>;
  /** Lets go of what is open, for a run that stops. */
  discard(): Promise<void>;
}

interface OpenTableFile {
  readonly format: string;
  readonly table: string;
  readonly file: PartFile;
  readonly encoder: RowEncoder;
  rows: number;
}

/** Opens every file of a part: each format by each table, and the unexported ids. */
export async function openPart(part: number, options: PartOptions): Promise<PartBuild> {
  const open: OpenTableFile[] = [];
  try {
    for (const format of options.formats) {
      const tables = format === 'raw' ? [rawTable] : options.tables;
      for (const table of tables) open.push(await openTableFile(part, options, { format, table }));
    }
    open.push(await openTableFile(part, options, { format: 'unexported', table: unexportedTable }));
  } catch (error) {
    await discardAll(open);
    throw error;
  }
  return {
    write: async (slice) => {
      for (const each of open) {
        for (const block of blocksFor(each, slice)) {
          each.rows += block.rows;
          if (block.rows > 0) await each.encoder.write(block);
        }
      }
    },
    finish: () => finishAll(part, open, options),
    discard: () => discardAll(open),
  };
}

function blocksFor({ format, table }: OpenTableFile, slice: FlatSlice): readonly RowBlock[] {
  if (format === 'raw') return slice.raw;
  if (format === 'unexported') return slice.unexported;
  return slice.rows.get(table) ?? [];
}

async function openTableFile(
  part: number,
  { files, folder, compression, escapeFormulas, csvDialect }: PartOptions,
  { format, table }: { format: Format | 'unexported'; table: Table },
): Promise<OpenTableFile> {
  const sink = sinkFor(format === 'unexported' ? 'csv' : format);
  const wanted = format === 'unexported' ? 'none' : compression[format];
  const codec = sink.compressesInside ? 'none' : wanted;
  const name =
    format === 'unexported'
      ? exportPaths.unexported(part)
      : exportPaths.table({ format, table: table.name, part, extension: sink.extension, codec });
  const file = await openPartFile({ files, folder, name, codec, blockBytes: sink.blockBytes });
  try {
    const encoder = await sink.open(file, {
      columns: table.columns,
      compression: sink.compressesInside ? wanted : 'none',
      escapeFormulas,
      csvDialect: format === 'unexported' ? 'rfc4180' : csvDialect,
    });
    return { format, table: table.name, file, encoder, rows: 0 };
  } catch (error) {
    await file.discard();
    throw error;
  }
}

async function finishAll(
  part: number,
  open: readonly OpenTableFile[],
  { files, folder }: PartOptions,
): Promise<{ files: FileFacts[]; notes: EncoderNotes }> {
  const done: FileFacts[] = [];
  let formulaCells = 0;
  /** By table: every format replaces in the same cells. */
  const replaced = new Map<string, number>();
  for (const { format, table, file, encoder, rows } of open) {
    const told = await encoder.end();
    if (format !== 'unexported') {
      formulaCells += told.formulaCells;
      replaced.set(table, Math.max(replaced.get(table) ?? 0, told.replacedSurrogates));
    }
    done.push({ format: format === 'unexported' ? 'csv' : format, table, part, rows, ...(await file.seal()) });
  }
  for (const { file } of open) await file.publish();
  await syncFoldersOf(
    files,
    folder,
    done.map((file) => pathIn(folder, file.path)),
  );
  const replacedSurrogates = [...replaced.values()].reduce((sum, cells) => sum + cells, 0);
  return { files: done, notes: { formulaCells, replacedSurrogates } };
}

async function discardAll(open: readonly OpenTableFile[]): Promise<void> {
  for (const { file } of open) await file.discard();
}
