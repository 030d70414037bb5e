import { assetsTable } from '../records/columns.ts';
import type { FinishedExport, ManifestFile } from '../finished/finished-export.ts';
import { RecordTexts } from '../finished/record-text.ts';
import { recordFiles } from '../finished/records.ts';
import { BitSet } from '../lib/bit-set.ts';
import { splitLines } from '../lib/scan/split-lines.ts';
import type { FileStore } from '../store/file-store.ts';
import type { OpenFile } from '../store/open-file.ts';
import { type BaseKeys, marks } from './base-keys.ts';
import { BlockReader } from './line-file.ts';
import { requireIntact } from './read-base-keys.ts';

/** Bytes of records that wait for their ids. */
const windowBytes = 64 * 1024 * 1024;

/** Consecutive records of a base. */
interface Piece {
  readonly count: number;
  at(index: number): Buffer;
}

/**
 * The records of a base by their row, as JSON: read once in their own order, which mostly is that of the ids. Records that wait
 * for their ids are kept in memory; where these are too many, because the ids have another order, in a file.
 */
export class BaseRows {
  readonly #files: FileStore;
  readonly #spillPath: string;
  readonly #window = new Map<number, Buffer>();
  readonly #mostBytes: number;
  /** Rows whose records will be taken. */
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
    { files, spillPath, mostBytes = windowBytes }: { files: FileStore; spillPath: string; mostBytes?: number },
  ) {
    this.#files = files;
    this.#spillPath = spillPath;
    this.#mostBytes = mostBytes;
    this.#rows = keys.rows;
    this.#wanted = new BitSet(keys.rows);
    for (const slot of keys.slots()) {
      if (keys.fate(slot) === 'row' && keys.has(slot, marks.listed)) this.#wanted.add(keys.row(slot));
    }
    this.#pieces = recordPieces(finished);
  }

  /** The record of a row, which is taken once. */
  async take(row: number): Promise<Buffer> {
    while (this.#spill === undefined && this.#next <= row) await this.#advance();
    if (this.#spill !== undefined) return this.#spill.read(row);
    const record = this.#window.get(row);
    if (record === undefined) throw new Error(`row ${row} of the base was taken twice`);
    this.#window.delete(row);
    this.#bytes -= record.length;
    return record;
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

  async #advance(): Promise<void> {
    const record = await this.#read();
    if (record === undefined) return;
    this.#window.set(this.#next - 1, record);
    this.#bytes += record.length;
    if (this.#bytes > this.#mostBytes) await this.#spillAll();
  }

  /** The next record, or undefined where it is not wanted. */
  async #read(): Promise<Buffer | undefined> {
    const row = this.#next;
    if (row >= this.#rows) throw new Error('the base has fewer records than ids');
    while (this.#piece === undefined || row >= this.#pieceStart + this.#piece.count) {
      if (this.#piece !== undefined) this.#pieceStart += this.#piece.count;
      const { value } = await this.#pieces.next();
      if (value === undefined) throw new Error('the base has fewer records than ids');
      this.#piece = value;
    }
    this.#next += 1;
    return this.#wanted.has(row) ? this.#piece.at(row - this.#pieceStart) : undefined;
  }

  async #spillAll(): Promise<void> {
    const spill = new Spill(await this.#files.open(this.#spillPath, 'create'), this.#rows);
    for (const [row, record] of this.#window) await spill.add(row, record);
    this.#window.clear();
    while (this.#next < this.#rows) {
      const record = await this.#read();
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
  readonly #blocks = new BlockReader();
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  #end = 0;

  constructor(file: OpenFile, rows: number) {
    this.#file = file;
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
    return this.#blocks.read({ name: '', open: this.#file }, this.#from[row] ?? 0, this.#length[row] ?? 0);
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
