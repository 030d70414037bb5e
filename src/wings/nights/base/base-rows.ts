import { assetsTable } from '../../../core/records/columns.ts';
import type { FinishedExport, ManifestFile } from '../../../exports/finished-export.ts';
import { RecordTexts } from '../../../exports/record-text.ts';
import { recordFiles } from '../../../exports/records.ts';
import { wholeLines } from '../../../exports/whole-lines.ts';
import { lineFeed } from '../../../lib/ascii.ts';
import { BitSet } from '../../../lib/bit-set.ts';
import { splitLines } from '../../../lib/scan/split-lines.ts';
import type { FileStore } from '../../../places/files/file-store.ts';
import type { OpenFile } from '../../../places/files/open-file.ts';
import { type BaseKeys, marks } from './base-keys.ts';
import { type BlockFile, PieceReader, plainBlocks } from './line-file.ts';
import { requireIntact } from './read-base-keys.ts';

/** Bytes of records that wait for their ids. */
const windowBytes = 64 * 1024 * 1024;

/** Consecutive records of a base. */
interface Piece {
  readonly count: number;
  at(index: number): Buffer;
}

export interface BaseRowsOptions {
  readonly files: FileStore;
  readonly spillPath: string;
  readonly mostBytes?: number;
  /** Files of JSONL whose lines are copied: then these are taken in place of records. */
  readonly lineFiles?: readonly ManifestFile[] | undefined;
}

/**
 * The records of a base by their row, as JSON: read once in their own order, which mostly is that of the ids. Records that wait
 * for their ids are kept in memory; where these are too many, because the ids have another order, in a file.
 */
export class BaseRows {
  /** Whether rows are lines of JSONL, without their ends, in place of records. */
  readonly areLines: boolean;
  readonly #files: FileStore;
  readonly #spillPath: string;
  readonly #window = new Map<number, Buffer>();
  readonly #mostBytes: number;
  /** Rows whose records will be taken. */
  readonly #wanted: BitSet;
  readonly #finished: FinishedExport;
  readonly #pieces: AsyncGenerator<Piece, void, void>;
  readonly #rows: number;
  #piece: Piece | undefined;
  #pieceStart = 0;
  #next = 0;
  #bytes = 0;
  #spill: Spill | undefined;

  constructor(
    finished: FinishedExport,
    keys: BaseKeys,
    { files, spillPath, mostBytes = windowBytes, lineFiles }: BaseRowsOptions,
  ) {
    this.areLines = lineFiles !== undefined;
    this.#finished = finished;
    this.#files = files;
    this.#spillPath = spillPath;
    this.#mostBytes = mostBytes;
    this.#rows = keys.rows;
    this.#wanted = new BitSet(keys.rows);
    for (const slot of keys.slots()) {
      if (keys.fate(slot) === 'row' && keys.has(slot, marks.listed)) this.#wanted.add(keys.row(slot));
    }
    this.#pieces = lineFiles === undefined ? recordPieces(finished) : linePieces(finished, lineFiles);
  }

  /** The record of a row, or its line, which is taken once. Without a promise where it is in memory: that is nearly always. */
  take(row: number): Buffer | Promise<Buffer> {
    if (this.#spill !== undefined) return this.#spill.read(row);
    while (this.#next <= row && this.#hasNext() && this.#bytes <= this.#mostBytes) this.#keepNext();
    return this.#next > row ? this.#taken(row) : this.#takeLater(row);
  }

  /** The records of what was taken, also where that is lines. */
  async recordsOf(taken: readonly Buffer[]): Promise<readonly Buffer[]> {
    if (!this.areLines || taken.length === 0) return taken;
    const lines = Buffer.concat(taken.flatMap((line) => [line, Buffer.of(lineFeed)]));
    const records: Buffer[] = [];
    for await (const block of this.#finished.blocksOfLines(assetsTable.name, lines, assetsTable.columns)) {
      const texts = new RecordTexts(block);
      for (let row = 0; row < block.rows; row += 1) records.push(texts.of(row));
    }
    return records;
  }

  /** Says that a row will not be taken. */
  skip(row: number): void {
    this.#wanted.delete(row);
    const record = this.#window.get(row);
    if (record === undefined) return;
    this.#window.delete(row);
    this.#bytes -= record.length;
  }

  async close(): Promise<void> {
    await this.#pieces.return();
    await this.#spill?.close();
    await this.#files.remove(this.#spillPath);
  }

  #taken(row: number): Buffer {
    const record = this.#window.get(row);
    if (record === undefined) throw new Error(`row ${row} of the base was taken twice`);
    this.#window.delete(row);
    this.#bytes -= record.length;
    return record;
  }

  async #takeLater(row: number): Promise<Buffer> {
    while (this.#next <= row) {
      if (this.#bytes > this.#mostBytes) {
        await this.#spillAll();
        break;
      }
      await this.#readPiece();
      this.#keepNext();
    }
    return this.#spill === undefined ? this.#taken(row) : this.#spill.read(row);
  }

  #hasNext(): boolean {
    return this.#piece !== undefined && this.#next < this.#pieceStart + this.#piece.count;
  }

  /** Has the next record in the piece at hand. */
  async #readPiece(): Promise<void> {
    while (!this.#hasNext()) {
      if (this.#piece !== undefined) this.#pieceStart += this.#piece.count;
      const { value } = await this.#pieces.next();
      if (value === undefined) throw new Error('the base has fewer records than ids');
      this.#piece = value;
    }
  }

  #keepNext(): void {
    const record = this.#readNext();
    if (record === undefined) return;
    this.#window.set(this.#next - 1, record);
    this.#bytes += record.length;
  }

  /** The next record of the piece, or undefined where it is not wanted. */
  #readNext(): Buffer | undefined {
    const row = this.#next;
    if (row >= this.#rows) throw new Error('the base has fewer records than ids');
    this.#next += 1;
    return this.#wanted.has(row) ? this.#piece?.at(row - this.#pieceStart) : undefined;
  }

  async #spillAll(): Promise<void> {
    const spill = new Spill(await this.#files.open(this.#spillPath, 'create'), this.#rows);
    for (const [row, record] of this.#window) await spill.add(row, record);
    this.#window.clear();
    while (this.#next < this.#rows) {
      await this.#readPiece();
      const record = this.#readNext();
      if (record !== undefined) await spill.add(this.#next - 1, record);
    }
    await spill.flush();
    this.#spill = spill;
  }
}

/** Records in a file, and where each lies. It is scratch: nothing of it is synced. */
class Spill {
  readonly #file: OpenFile;
  readonly #from: Float64Array;
  readonly #length: Uint32Array;
  readonly #blocks = new PieceReader();
  readonly #pieces: BlockFile;
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  #end = 0;

  constructor(file: OpenFile, rows: number) {
    this.#file = file;
    this.#pieces = plainBlocks('', file);
    this.#from = new Float64Array(rows);
    this.#length = new Uint32Array(rows);
  }

  async add(row: number, record: Buffer): Promise<void> {
    this.#from[row] = this.#end + this.#waitingBytes;
    this.#length[row] = record.length;
    this.#waiting.push(record);
    this.#waitingBytes += record.length;
    if (this.#waitingBytes > 1 << 20) await this.flush();
  }

  async flush(): Promise<void> {
    await this.#file.write(Buffer.concat(this.#waiting), this.#end);
    this.#end += this.#waitingBytes;
    this.#waiting = [];
    this.#waitingBytes = 0;
  }

  read(row: number): Promise<Buffer> {
    return this.#blocks.read(this.#pieces, this.#from[row] ?? 0, this.#length[row] ?? 0);
  }

  close(): Promise<void> {
    return this.#file.close();
  }
}

/** All records of a base in their order. */
export async function* recordPieces(finished: FinishedExport): AsyncGenerator<Piece, void, void> {
  for (const file of recordFiles(finished)) yield* recordsIn(finished, file);
}

/** The records of a file in their order. A record of a table is made when it is looked at. @throws {ExportError} `damaged` */
export async function* recordsIn(finished: FinishedExport, file: ManifestFile): AsyncGenerator<Piece, void, void> {
  await requireIntact(finished, file);
  if (file.format === 'raw') {
    for await (const lines of linesOf(finished.bytes(file))) {
      yield { count: lines.length, at: (index) => lines[index] ?? Buffer.alloc(0) };
    }
    return;
  }
  for await (const block of finished.blocks(file, assetsTable.columns)) {
    const texts = new RecordTexts(block);
    yield { count: block.rows, at: (index) => texts.of(index) };
  }
}

async function* linePieces(
  finished: FinishedExport,
  files: readonly ManifestFile[],
): AsyncGenerator<Piece, void, void> {
  for (const file of files) {
    await requireIntact(finished, file);
    for await (const bytes of wholeLines(finished.bytes(file, 'reused'))) yield linesIn(bytes);
  }
}

/** @param bytes whole lines, good until the next piece is read */
function linesIn(bytes: Buffer): Piece {
  const ends: number[] = [];
  for (let at = bytes.indexOf(lineFeed); at >= 0; at = bytes.indexOf(lineFeed, at + 1)) ends.push(at + 1);
  return {
    count: ends.length,
    at: (index) => Buffer.from(bytes.subarray(ends[index - 1] ?? 0, (ends[index] ?? 1) - 1)),
  };
}

/** The lines of a file without their ends, as copies. */
export async function* linesOf(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer[], void, void> {
  let found: Buffer[] = [];
  const lines = splitLines({
    longest: 256 << 20,
    onLine: ({ bytes: line, start, end }) => {
      if (end > start) found.push(Buffer.from(line.subarray(start, end)));
    },
  });
  for await (const piece of bytes) {
    lines.push(piece);
    yield found;
    found = [];
  }
  lines.end();
  yield found;
}
