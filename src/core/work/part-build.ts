import { type RowBlock, textOfCell } from '../records/row-block.ts';
import { type Table, wholeName } from '../records/table.ts';
import { idsTable, unexportedTable } from '../records/id-tables.ts';
import {
  type CsvDialectName,
  type PartCodec,
  compressions,
  type EncoderNotes,
  type Format,
  type RowEncoder,
} from '../formats/sink.ts';
import type { Job } from '../job/job-schema.ts';
import { sinkFor } from '../formats/registry.ts';
import { LongestTexts } from './tables-of.ts';
import { assetsTable, proofColumns } from '../records/columns.ts';
import { type Commit, type FileFacts, noProofs, type ProofCounts } from '../../places/export/export-facts.ts';
import { proofsOf } from '../../places/scratch/commit-sums.ts';
import { exportPaths } from '../../places/export/export-folder.ts';
import type { Disk } from '../../places/files/disk.ts';
import { openPartFile, type PartFile } from '../../places/scratch/part-file.ts';
import type { FlatBatch } from './flatten-batch.ts';

/** What a raw file holds: the record as it came. */
export const rawTable: Table = {
  name: 'assets',
  columns: [{ name: 'record', type: 'json', nullable: false, path: [], about: 'The record as the service sent it.' }],
};

/** Files beside those of the tables. They are CSV of RFC 4180, whatever the job says of its tables. */
const besides = {
  unexported: { table: unexportedTable, codec: 'none', pathOf: exportPaths.unexported },
  ids: { table: idsTable, codec: 'blocks', pathOf: exportPaths.ids },
} as const;

function isBeside(format: string): format is keyof typeof besides {
  return Object.hasOwn(besides, format);
}

export interface PartOptions {
  readonly files: Disk;
  readonly folder: string;
  readonly formats: readonly Format[];
  readonly tables: readonly Table[];
  /** The first of `compressions` for a format that is not named. */
  readonly compression: Readonly<Partial<Record<Format, PartCodec>>>;
  readonly escapeFormulas: boolean;
  readonly csvDialect: CsvDialectName;
  /** Whether the entries themselves are kept. */
  readonly keepIds: boolean;
}

/** The files of one part in the making. */
export interface PartBuild {
  write(batch: FlatBatch): Promise<void>;
  /** Ends and syncs every file. They count once the part is committed. */
  finish(): Promise<Pick<Commit, 'files' | 'proofs' | 'maxBytes'> & { readonly notes: EncoderNotes }>;
  /** Closes open files without finishing them, when a run stops. */
  discard(): Promise<void>;
}

/** Which file of a part. */
export interface TableFileName {
  readonly format: Format | keyof typeof besides;
  readonly table: Table;
  readonly part: number;
}

interface OpenTableFile {
  readonly format: TableFileName['format'];
  readonly table: string;
  readonly file: PartFile;
  readonly encoder: RowEncoder;
  rows: number;
}

/** What the bytes of the files of an export depend on besides its rows. */
export function fileOptionsOf({ output, csv }: Pick<Job, 'output' | 'csv'>): Omit<FileOptions, 'files' | 'folder'> {
  const { compression } = output;
  return { compression, escapeFormulas: csv.formulas === 'escape', csvDialect: csv.dialect };
}

/** Opens every file of a part: each format by each table, the unexported ids, and all ids. */
export async function openPart(part: number, options: PartOptions): Promise<PartBuild> {
  const open: OpenTableFile[] = [];
  try {
    for (const format of options.formats) {
      const tables = format === 'raw' ? [rawTable] : options.tables;
      for (const table of tables) open.push(await openTableFile(options, { format, table, part }));
    }
    open.push(await openTableFile(options, { format: 'unexported', table: unexportedTable, part }));
    if (options.keepIds) open.push(await openTableFile(options, { format: 'ids', table: idsTable, part }));
  } catch (error) {
    await discardAll(open);
    throw error;
  }
  const assets = options.tables.find(({ name }) => name === assetsTable.name);
  const counted: Pick<Commit, 'proofs'>[] = [];
  const longest = options.formats.some((format) => format !== 'raw') ? new LongestTexts(options.tables) : undefined;
  return {
    write: async (batch) => {
      const proofs = countProofs(assets, batch.rows.get(assetsTable.name) ?? []);
      counted.splice(0, 1, { proofs: proofsOf([...counted, { proofs }]) });
      longest?.add(batch.rows);
      for (const each of open) {
        for (const block of blocksFor(each, batch)) {
          each.rows += block.rows;
          if (block.rows > 0) await each.encoder.write(block);
        }
      }
    },
    finish: async () => {
      const proofs = proofsOf(counted);
      return {
        ...(await finishAll(part, open)),
        ...(proofs === undefined ? {} : { proofs }),
        ...(longest === undefined ? {} : { maxBytes: longest.maxBytes() }),
      };
    },
    discard: () => discardAll(open),
  };
}

function blocksFor({ format, table }: OpenTableFile, { rows, raw, unexported, ids }: FlatBatch): readonly RowBlock[] {
  if (format === 'raw') return raw;
  if (format === 'unexported') return unexported;
  if (format === 'ids') return ids;
  return rows.get(table) ?? [];
}

type FileOptions = Omit<PartOptions, 'formats' | 'tables' | 'keepIds'>;

/** Opens one file of a part. */
export async function openTableFile(
  { files, folder, compression, escapeFormulas, csvDialect }: FileOptions,
  { format, table, part }: TableFileName,
): Promise<OpenTableFile> {
  const beside = isBeside(format) ? besides[format] : undefined;
  const wanted = isBeside(format) ? besides[format].codec : (compression[format] ?? compressions[format][0]);
  const sink = await sinkFor(isBeside(format) ? 'csv' : format);
  const { extension, blockBytes } = sink;
  const codec = sink.compressesInside ? 'none' : wanted;
  const name = beside?.pathOf(part) ?? exportPaths.table({ format, table: table.name, part, extension, codec });
  const file = await openPartFile({ files, folder, name, codec, blockBytes });
  try {
    const encoder = await sink.open(file, {
      columns: table.columns,
      compression: sink.compressesInside && wanted !== 'blocks' ? wanted : 'none',
      // The ids are read back: they are kept exact.
      escapeFormulas: escapeFormulas && format !== 'ids',
      csvDialect: beside === undefined ? csvDialect : 'rfc4180',
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
): Promise<{ files: FileFacts[]; notes: EncoderNotes }> {
  const done: FileFacts[] = [];
  let formulaCells = 0;
  /** By table: every format replaces in the same cells. */
  const replaced = new Map<string, number>();
  for (const { format, table, file, encoder, rows } of open) {
    const told = await encoder.end();
    if (!isBeside(format)) {
      formulaCells += told.formulaCells;
      replaced.set(table, Math.max(replaced.get(table) ?? 0, told.replacedSurrogates));
    }
    done.push({ format: isBeside(format) ? 'csv' : format, table, part, rows, ...(await file.finish()) });
  }
  const replacedSurrogates = [...replaced.values()].reduce((sum, cells) => sum + cells, 0);
  return { files: done, notes: { formulaCells, replacedSurrogates } };
}

async function discardAll(open: readonly OpenTableFile[]): Promise<void> {
  for (const { file } of open) await file.discard();
}

/** Counts the verdicts of rows of `assets`, as they are written; undefined where the table has none. */
function countProofs(table: Table | undefined, blocks: readonly RowBlock[]): ProofCounts | undefined {
  const columns = table?.columns.map(wholeName) ?? [];
  const places = proofColumns.map(({ name }) => columns.indexOf(name));
  if (places.includes(-1)) return undefined;
  const counts = { ...noProofs };
  for (const block of blocks) {
    for (let row = 0; row < block.rows; row += 1) {
      const [creators, metadata, leaf] = places.map((place) => textOfCell(block, row * block.width + place));
      if ((creators ?? metadata ?? leaf) === null) continue;
      counts.checked += 1;
      if ([creators, metadata, leaf].includes('false')) counts.unproven += 1;
      if (creators === 'false') counts.creators += 1;
      if (metadata === 'false') counts.metadata += 1;
      if (leaf === 'false') counts.leaf += 1;
    }
  }
  return counts;
}
