import { type RowBlock, textOfCell } from '../../../core/records/row-block.ts';
import { assetsTable } from '../../../core/records/columns.ts';
import type { Column } from '../../../core/records/table.ts';
import { nearestName } from '../../../lib/format-text.ts';
import { ExportError } from '../../../lib/export-error.ts';
import type { Disk, OpenFile, ReadableFile } from '../../../places/files/disk.ts';

/** Bytes before a cell: nulls come last. */
const isThere = Buffer.of(0);
const isNull = Buffer.of(1);
/** No text holds these bytes, whatever follows it: a zero within one is followed by 255. */
const endOfText = Buffer.of(0, 0);
/** Added to whole numbers, which have at most 38 digits, so that none is below zero. */
const wholeBias = 1n << 127n;
const wholeDigits = 32;

/**
 * Bytes that are in the order of a row's cells: texts by their UTF-8, numbers by their value, false before true.
 * @param cells the text of each column's cell as CSV has it
 */
export function sortKey(columns: readonly Column[], cells: readonly (string | null)[]): Buffer {
  return Buffer.concat(
    columns.flatMap(({ type }, place) => {
      const cell = cells[place] ?? null;
      return cell === null ? [isNull] : [isThere, ...keyOfCell(type, cell)];
    }),
  );
}

function keyOfCell(type: Column['type'], cell: string): readonly Uint8Array[] {
  switch (type) {
    case 'string':
    case 'json':
      return [keyOfText(Buffer.from(cell)), endOfText];
    case 'boolean':
      return [Buffer.of(Number(cell === 'true'))];
    case 'double':
      return [keyOfDouble(Number(cell))];
    case 'int64':
    case 'decimal':
    case 'timestamp':
      return [Buffer.from((BigInt(cell) + wholeBias).toString(16).padStart(wholeDigits, '0'), 'hex')];
  }
}

function keyOfText(text: Buffer): Buffer {
  return text.includes(0) ? Buffer.from(text.toString('latin1').replaceAll('\0', '\0\xff'), 'latin1') : text;
}

/** The bits of a double above zero are in its order; those of one below zero are in the opposite one. */
function keyOfDouble(value: number): Buffer {
  const key = Buffer.alloc(8);
  // Of the two zeros only one.
  key.writeDoubleBE(value + 0);
  if (value < 0) for (const [at, byte] of key.entries()) key[at] = byte ^ 0xff;
  else key.writeUInt8(key.readUInt8() ^ 0x80);
  return key;
}

/** How the assets of the new export are sorted. */
export interface SortOrder {
  /** Names of columns of `assets` in the column table, the last of them `id`. */
  readonly columns: readonly string[];
  /** About how much memory the sorting may take. No byte depends on it. */
  readonly memoryBytes: number;
}

/** A record, and when it was requested in microseconds since 1970. */
export interface TimedRecord {
  readonly record: Buffer;
  readonly timeUs: number;
}

/** The columns of a sort order: those named, then `id`, which no two assets share. @throws {ExportError} `usage` */
export function sortColumns(names: readonly string[]): string[] {
  const known = assetsTable.columns.map(({ name }) => name);
  for (const [index, name] of names.entries()) {
    const near = nearestName(name, known);
    if (!known.includes(name))
      throw new ExportError('usage', `--sort: ${name} is not a column of assets`, {
        todo: near === undefined ? 'See asset-export schema.' : `Did you mean ${near}?`,
      });
    if (names.indexOf(name) !== index)
      throw new ExportError('usage', `--sort names ${name} twice`, { todo: 'Name each column once.' });
  }
  const last = names.indexOf('id');
  return [...(last < 0 ? names : names.slice(0, last)), 'id'];
}

/** A record with the bytes by which it is sorted. */
interface Keyed extends TimedRecord {
  readonly key: Buffer;
}

/** What is read of a run: the records that were read last, from one of them on, and those that follow. */
interface OpenRun {
  block: readonly Keyed[];
  at: number;
  readonly rest: AsyncIterator<readonly Keyed[], void>;
}

/** Lengths of key and record, and the time, before each record of a run. */
const headBytes = 16;
/** What a record takes in memory beside its bytes. */
const objectBytes = 300;
const writtenBytes = 1 << 20;
/** Of a run at a time: longer ones are not faster. */
const [leastReadBytes, mostReadBytes] = [1 << 16, 1 << 23];

/** Sorts records on the disk, by runs that are sorted in memory and then merged. Their number is limited by the disk alone. */
export class SortedRecords {
  readonly #keys: readonly { readonly column: Column; readonly place: number }[];
  readonly #memoryBytes: number;
  readonly #file: OpenFile;
  /** Since the last run. */
  #held: Keyed[] = [];
  #heldBytes = 0;
  /** Where each run ends in the file. */
  readonly #runEnds: number[] = [];
  /** In the order of their next records; undefined while records are added. */
  #merging: OpenRun[] | undefined;

  private constructor({ columns, memoryBytes }: SortOrder, file: OpenFile) {
    this.#keys = columns.flatMap((name) => {
      const place = assetsTable.columns.findIndex((column) => column.name === name);
      const column = assetsTable.columns[place];
      return column === undefined ? [] : [{ column, place }];
    });
    this.#memoryBytes = memoryBytes;
    this.#file = file;
  }

  /** @param folder an empty folder, for what memory does not hold */
  static async open(order: SortOrder, files: Disk, folder: string): Promise<SortedRecords> {
    return new SortedRecords(order, await files.open(`${folder}/runs`, 'create'));
  }

  /** Adds records. @param whole their rows of `assets` as the column table has them, in the same order */
  async add(records: readonly TimedRecord[], whole: RowBlock): Promise<void> {
    const columns = this.#keys.map(({ column }) => column);
    for (const [row, { record, timeUs }] of records.entries()) {
      const cells = this.#keys.map(({ place }) => textOfCell(whole, row * whole.width + place));
      const key = sortKey(columns, cells);
      this.#held.push({ key, record: Buffer.from(record), timeUs });
      this.#heldBytes += key.length + record.length + objectBytes;
    }
    // While it is written, a run is there once more, in the blocks that go to the disk.
    if (this.#heldBytes > this.#memoryBytes / 2) await this.#writeRun();
  }

  /** The next records in the order, at most so many; fewer only at the end. Nothing can be added any more. */
  async take(most: number): Promise<TimedRecord[]> {
    this.#merging ??= await this.#openRuns();
    const taken: TimedRecord[] = [];
    for (let run = this.#merging[0]; run !== undefined && taken.length < most; run = this.#merging[0]) {
      const next = run.block[run.at];
      if (next === undefined) break;
      taken.push(next);
      run.at += 1;
      this.#merging.shift();
      await this.#putBack(run, this.#merging);
    }
    return taken;
  }

  async close(): Promise<void> {
    await this.#file.close();
  }

  async #writeRun(): Promise<void> {
    let pieces: Uint8Array[] = [];
    let bytes = 0;
    let position = this.#runEnds.at(-1) ?? 0;
    const write = async (): Promise<void> => {
      await this.#file.write(Buffer.concat(pieces), position);
      position += bytes;
      [pieces, bytes] = [[], 0];
    };
    for (const { key, record, timeUs } of this.#held.sort(byKey)) {
      const head = Buffer.allocUnsafe(headBytes);
      head.writeUInt32LE(key.length, 0);
      head.writeUInt32LE(record.length, 4);
      head.writeDoubleLE(timeUs, 8);
      pieces.push(head, key, record);
      bytes += headBytes + key.length + record.length;
      if (bytes >= writtenBytes) await write();
    }
    if (bytes > 0) await write();
    this.#runEnds.push(position);
    [this.#held, this.#heldBytes] = [[], 0];
  }

  /** What was not written is the first run; those on the disk share the other half of the memory. */
  async #openRuns(): Promise<OpenRun[]> {
    const merging: OpenRun[] = [];
    await this.#putBack({ block: this.#held.sort(byKey), at: 0, rest: nothing() }, merging);
    const share = Math.floor(this.#memoryBytes / 2 / this.#runEnds.length);
    const readBytes = Math.min(mostReadBytes, Math.max(leastReadBytes, share));
    for (const [index, to] of this.#runEnds.entries()) {
      const from = this.#runEnds[index - 1] ?? 0;
      await this.#putBack({ block: [], at: 0, rest: recordsOf(this.#file, { from, to, readBytes }) }, merging);
    }
    return merging;
  }

  /** Puts a run to its place among the others, unless it is at its end. */
  async #putBack(run: OpenRun, others: OpenRun[]): Promise<void> {
    if (run.at >= run.block.length) {
      const next = await run.rest.next();
      if (next.done === true) return;
      [run.block, run.at] = [next.value, 0];
    }
    const key = run.block[run.at]?.key;
    if (key === undefined) return;
    let low = 0;
    let high = others.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const other = others[middle];
      if (other !== undefined && Buffer.compare(other.block[other.at]?.key ?? key, key) <= 0) low = middle + 1;
      else high = middle;
    }
    others.splice(low, 0, run);
  }
}

function byKey(one: Keyed, other: Keyed): number {
  return Buffer.compare(one.key, other.key);
}

async function* nothing(): AsyncGenerator<never, void> {
  // A run that is in memory has no more.
}

/** The records of a run, as many at a time as lie whole in what was read. */
async function* recordsOf(
  file: ReadableFile,
  { from, to, readBytes }: { readonly from: number; readonly to: number; readonly readBytes: number },
): AsyncGenerator<readonly Keyed[], void> {
  let needed = headBytes;
  for (let position = from; position < to; ) {
    const length = Math.min(to - position, Math.max(readBytes, needed));
    const read = await file.read(position, length);
    const bytes = Buffer.from(read.buffer, read.byteOffset, read.length);
    if (bytes.length < length) throw new Error('a run of sorted records ends early');
    const records: Keyed[] = [];
    let at = 0;
    for (;;) {
      needed = headBytes;
      if (at + needed > bytes.length) break;
      const keyEnd = at + headBytes + bytes.readUInt32LE(at);
      const end = keyEnd + bytes.readUInt32LE(at + 4);
      needed = end - at;
      if (end > bytes.length) break;
      records.push({
        key: bytes.subarray(at + headBytes, keyEnd),
        record: bytes.subarray(keyEnd, end),
        timeUs: bytes.readDoubleLE(at + 8),
      });
      at = end;
    }
    position += at;
    if (records.length > 0) yield records;
  }
}
