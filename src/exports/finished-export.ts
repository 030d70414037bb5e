import { type Format, type CsvDialectName, csvDialectNamed, csvDialects } from '../core/formats/sink.ts';
import { type RowBlock, cellsOf } from '../core/records/row-block.ts';
import { csvBlocks } from './csv-blocks.ts';
import { jsonlBlocks } from './jsonl-blocks.ts';
import { rangesOf, type PieceMemory, piecesOf } from '../places/export/part-bytes.ts';
import type { RowLayout } from './row-readers.ts';
import { idTables, isIdTable } from '../core/records/id-tables.ts';
import { fetchedAt, proofColumns, tableByName } from '../core/records/columns.ts';
import { exportedAt } from '../core/records/shape-table.ts';
import { type Column, type Row, type Table, wholeName, type NamedRow } from '../core/records/table.ts';
import { codecOf, decompress } from '../lib/decompress.ts';
import { pathIn } from '../places/export/export-folder.ts';
import { localDisk, type Reads, type ReadableFile } from '../places/files/disk.ts';
import { type Manifest, readManifest, withoutManifest } from '../places/export/manifest.ts';
import { requireAddress } from '../lib/addresses/address.ts';
import { ExportError } from '../lib/export-error.ts';

/**
 * What reads each format back: the most exact first, then the fastest. Raw files hold records, not rows. A file is read decompressed from its
 * beginning (`plain`), or in ranges as it lies on disk.
 */
const blockReaders: Readonly<
  Record<
    Exclude<Format, 'raw'>,
    (
      file: { plain(): AsyncIterable<Uint8Array>; ranges(): ReturnType<typeof rangesOf> },
      layout: RowLayout,
    ) => AsyncIterable<RowBlock>
  >
> = {
  parquet: async function* (file, layout) {
    // It loads WebAssembly.
    const { parquetBlocks } = await import('./parquet-blocks.ts');
    yield* parquetBlocks(file.ranges(), layout);
  },
  jsonl: (file, layout) => jsonlBlocks(file.plain(), layout),
  csv: (file, layout) => csvBlocks(file.plain(), layout),
};

/** The formats that hold rows, in the order of `blockReaders`. */
export const rowFormats = Object.keys(blockReaders) as (keyof typeof blockReaders)[];

export type ManifestFile = Manifest['files'][number];

/** Formats that are read back, the most exact first, then the fastest. */
const readable: readonly string[] = ['raw', ...rowFormats];

/** A complete export, read back: manifest → table → part → rows. */
export class FinishedExport {
  readonly files: Reads;
  readonly folder: string;
  readonly manifest: Manifest;
  /** What is in its files, by name: the tables of the job, `unexported` and `ids`. */
  readonly tables: ReadonlyMap<string, Table>;

  constructor(files: Reads, folder: string, manifest: Manifest) {
    this.files = files;
    this.folder = folder;
    this.manifest = manifest;
    const names = Object.keys(manifest.tables);
    this.tables = new Map([
      ...names.map((name) => [name, writtenTable(name, manifest)] as const),
      ...idTables.map((table) => [table.name, table] as const),
    ]);
  }

  /** Whether its CSV was changed for spreadsheets: such a cell does not say what the record holds. */
  get hasEscapedCsv(): boolean {
    return this.manifest.job['csv.formulas'] === 'escape';
  }

  /** How the CSV of its tables is written; that of `unexported` and `ids` is RFC 4180. */
  get csvDialect(): CsvDialectName {
    return csvDialectNamed(this.manifest.job['csv.dialect']);
  }

  /** A table of its files; without columns where it has none of that name. */
  table(name: string): Table {
    return this.tables.get(name) ?? { name, columns: [] };
  }

  /**
   * The files that hold exactly a table's values: the best format first, each in the order of the parts. Raw files hold the
   * records of `assets`, not its rows.
   */
  filesOf(table: string): ManifestFile[] {
    const isExact = (format: string): boolean => format !== 'csv' || isIdTable(table) || !this.hasEscapedCsv;
    const mine = this.manifest.files.filter((file) => file.table === table).sort((a, b) => a.part - b.part);
    return readable.filter(isExact).flatMap((format) => mine.filter((file) => file.format === format));
  }

  /**
   * The rows of a file, read while they are taken: memory holds a row group, or a piece of a file.
   * @param columns cells of each row, by their names in the column table; null where the file lacks one. All unless named.
   */
  async *rows(file: ManifestFile, columns = this.#columnsOf(file.table)): AsyncGenerator<Row[], void, void> {
    for await (const block of this.blocks(file, columns)) {
      yield Array.from({ length: block.rows }, (_, row) => cellsOf(block, row, columns));
    }
  }

  /** The same rows as texts, where a reader has no use for values. A block is valid until the next one is requested. */
  async *blocks(file: ManifestFile, columns: readonly Column[]): AsyncGenerator<RowBlock, void, void> {
    const format = rowFormats.find((each) => each === file.format);
    if (format === undefined) throw new Error(`${file.path} is of a format that holds no rows, or none of ours`);
    const layout = this.#layoutOf(file, columns);
    yield* this.#read(file, (open) =>
      blockReaders[format](
        { plain: () => plainOf(open, file, 'reused'), ranges: () => rangesOf(open, file.bytes) },
        layout,
      ),
    );
  }

  /** The bytes of a file, decompressed. */
  bytes(file: ManifestFile, memory: PieceMemory = 'new'): AsyncGenerator<Uint8Array, void, void> {
    return this.#read(file, (open) => plainOf(open, file, memory));
  }

  #layoutOf({ table }: Pick<ManifestFile, 'table'>, columns: readonly Column[]): RowLayout {
    const written = this.#columnsOf(table);
    const names = columns.map((column) => written.find((each) => wholeName(each) === wholeName(column))?.name);
    const dialect = isIdTable(table) ? 'rfc4180' : this.csvDialect;
    return { columns, names, written: written.map(({ name }) => name), csvNullText: csvDialects[dialect].nullText };
  }

  #columnsOf(table: string): readonly Column[] {
    return this.tables.get(table)?.columns ?? [];
  }

  async *#read<T>(
    { path }: ManifestFile,
    read: (open: ReadableFile) => AsyncIterable<T>,
  ): AsyncGenerator<T, void, void> {
    const open = await this.files.open(pathIn(this.folder, path));
    try {
      yield* read(open);
    } finally {
      await open.close();
    }
  }
}

/** Opens a complete export. @throws {ExportError} `unfinished`, `usage` where none was begun, `damaged` */
export async function openFinished(folder: string, files: Reads = localDisk): Promise<FinishedExport> {
  const manifest = await readManifest(files, folder);
  if (manifest === undefined) throw await withoutManifest(files, folder);
  return new FinishedExport(files, folder, manifest);
}

function plainOf(open: ReadableFile, { path }: ManifestFile, memory: PieceMemory): AsyncIterable<Uint8Array> {
  return decompress(piecesOf(open, memory), codecOf(path));
}

/** A table as the manifest has it: what the manifest does not say of a column, the column table does. */
function writtenTable(name: string, { tables }: Manifest): Table {
  const whole = tableByName(name);
  const known = [...(whole?.columns ?? []), ...proofColumns, fetchedAt, exportedAt];
  return {
    name,
    ...(whole?.list === undefined ? {} : { list: whole.list }),
    ...(whole?.where === undefined ? {} : { where: whole.where }),
    columns: (tables[name]?.columns ?? []).map((column): Column => {
      const { path = [], about = '', values, fieldId } = known.find((each) => each.name === wholeName(column)) ?? {};
      return {
        name: column.name,
        type: column.type,
        nullable: column.nullable,
        path,
        about,
        ...(values === undefined ? {} : { values }),
        ...(column.from === undefined ? {} : { from: column.from }),
        ...(fieldId === undefined ? {} : { fieldId }),
        ...(column.maxBytes === undefined ? {} : { maxBytes: column.maxBytes }),
      };
    }),
  };
}

/**
 * The rows of one table of a complete export, in the order of the ids. They are read while they are taken: memory holds a
 * row group, or a piece of a file.
 * @throws {ExportError} `usage` when the export has no such table in a format that holds rows, `damaged` when it is not complete
 */
export async function* readRows({
  files,
  folder,
  table = 'assets',
}: {
  readonly files: Reads;
  /** Folder of a complete export. */
  readonly folder: string;
  /** `assets` unless named; also `unexported`. */
  readonly table?: string;
}): AsyncGenerator<NamedRow, void, void> {
  const finished = await openFinished(requireAddress(folder, 'export', 'the folder'), files);
  const holdRows = finished.filesOf(table).filter(({ format }) => format !== 'raw');
  const [best] = holdRows;
  if (best === undefined) {
    throw new ExportError('usage', `${folder} has no rows of the table ${table} in ${rowFormats.join(', ')}`, {
      todo: 'Name a table of the export, or export this table with --tables in one of these formats.',
    });
  }
  const names = finished.tables.get(table)?.columns.map(({ name }) => name) ?? [];
  for (const file of holdRows.filter(({ format }) => format === best.format)) {
    for await (const rows of finished.rows(file)) {
      for (const row of rows) yield Object.fromEntries(names.map((name, index) => [name, row[index] ?? null]));
    }
  }
}
