import { assetsTable } from '../../../core/records/columns.ts';
import type { FinishedExport } from '../../../exports/finished-export.ts';
import { holdsCells, recordFiles } from '../../../exports/records.ts';
import { CellRows, type RowBatch } from '../../../exports/row-batch.ts';
import { BitSet } from '../../../lib/bit-set.ts';
import type { Disk, OpenFile } from '../../../places/files/disk.ts';
import { type BaseKeys, marks } from './base-keys.ts';
import { type BlockFile, PieceReader, plainBlocks } from './line-file.ts';
import { requireIntact } from './read-base-keys.ts';
import { recordPieces } from './record-pieces.ts';

/** Bytes of rows that wait for their ids. */
const windowBytes = 64 * 1024 * 1024;

/** Consecutive rows of a base, good until the next ones are read. */
interface Piece {
  readonly count: number;
  addTo(batch: RowBatch, index: number): void;
  /** A row by itself, for the time in which others are read. */
  packed(index: number): Buffer;
}

/**
 * The rows of a base, read once in their own order, which mostly is that of the ids. Rows that wait for their ids are kept in memory; where these are too many,
 * because the ids have another order, in a file.
 */
export class BaseRows {
  /** Whether cells are taken as the files hold them; else records are. */
  readonly #hasCells: boolean;
  readonly #files: Disk;
  readonly #spillPath: string;
  readonly #window = new Map<number, Buffer>();
  readonly #mostBytes: number;
  /** Rows that will be taken. */
  readonly #wanted: BitSet;
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
    {
      files,
      spillPath,
      mostBytes = windowBytes,
    }: { readonly files: Disk; readonly spillPath: string; readonly mostBytes?: number },
  ) {
    this.#files = files;
    this.#spillPath = spillPath;
    this.#mostBytes = mostBytes;
    this.#rows = keys.rows;
    this.#wanted = new BitSet(keys.rows);
    for (const slot of keys.slots()) {
      if (keys.fate(slot) === 'row' && keys.has(slot, marks.listed)) this.#wanted.add(keys.row(slot));
    }
    this.#hasCells = holdsCells(finished);
    this.#pieces = this.#hasCells ? cellPieces(finished) : wholePieces(finished);
  }

  /** Adds a row to a batch. Each is taken once. Without a promise where it is in memory: that is nearly always. */
  take(row: number, batch: RowBatch): Promise<void> | undefined {
    if (this.#spill !== undefined) return this.#takeSpilled(this.#spill, row, batch);
    while (this.#next < row && this.#hasNext() && this.#bytes <= this.#mostBytes) this.#keepNext();
    if (this.#next > row) this.#addPacked(this.#taken(row), batch);
    else if (this.#next < row || !this.#hasNext()) return this.#takeLater(row, batch);
    else {
      this.#piece?.addTo(batch, row - this.#pieceStart);
      this.#next += 1;
    }
    return undefined;
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

  async #takeLater(row: number, batch: RowBatch): Promise<void> {
    if (this.#bytes > this.#mostBytes) await this.#spillAll();
    else await this.#readPiece();
    await this.take(row, batch);
  }

  async #takeSpilled(spill: Spill, row: number, batch: RowBatch): Promise<void> {
    this.#addPacked(await spill.read(row), batch);
  }

  #addPacked(packed: Buffer, batch: RowBatch): void {
    if (this.#hasCells) batch.addPacked(packed);
    else batch.addRecord(packed);
  }

  #hasNext(): boolean {
    return this.#piece !== undefined && this.#next < this.#pieceStart + this.#piece.count;
  }

  /** Has the next row in the piece at hand. */
  async #readPiece(): Promise<void> {
    while (!this.#hasNext()) {
      if (this.#piece !== undefined) this.#pieceStart += this.#piece.count;
      const { value } = await this.#pieces.next();
      if (value === undefined) throw new Error('the base has fewer rows than ids');
      this.#piece = value;
    }
  }

  #keepNext(): void {
    const record = this.#readNext();
    if (record === undefined) return;
    this.#window.set(this.#next - 1, record);
    this.#bytes += record.length;
  }

  /** The next row of the piece, or undefined where it is not wanted. */
  #readNext(): Buffer | undefined {
    const row = this.#next;
    if (row >= this.#rows) throw new Error('the base has fewer rows than ids');
    this.#next += 1;
    return this.#wanted.has(row) ? this.#piece?.packed(row - this.#pieceStart) : undefined;
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

/** Rows in a file, and where each lies. It is scratch: nothing of it is synced. */
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

async function* cellPieces(finished: FinishedExport): AsyncGenerator<Piece, void, void> {
  for (const file of recordFiles(finished)) {
    await requireIntact(finished, file);
    for await (const block of finished.blocks(file, assetsTable.columns)) yield new CellRows(block);
  }
}

async function* wholePieces(finished: FinishedExport): AsyncGenerator<Piece, void, void> {
  for await (const piece of recordPieces(finished)) {
    yield {
      count: piece.count,
      addTo: (batch, index) => {
        batch.addRecord(piece.at(index));
      },
      packed: (index) => piece.at(index),
    };
  }
}
