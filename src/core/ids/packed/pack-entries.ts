import { deflateRawSync } from 'node:zlib';
import { shortestId } from '../../../lib/asset-id.ts';
import type { Entries } from '../entries.ts';
import { entryStates, type EntryColumns } from '../entries.ts';
import { ByteWriter } from './byte-writer.ts';
import {
  entriesPerFrame,
  frameHeadBytes,
  invalidNote,
  jumpNote,
  packDigits,
  packedBytes,
  packedHead,
} from './packed-form.ts';

/** What the packed entries of a slice are. */
export interface PackedCounts {
  entries: number;
  valid: number;
  invalid: number;
  duplicate: number;
}

const invalid = entryStates.indexOf('invalid');
const duplicate = entryStates.indexOf('duplicate');

/** Speed alone: nearly all notes are the same byte. */
const level = 1;

/** Packs entries. Their duplicates are kept apart, as indexes: the same ids are the same bytes wherever they are met first. */
export class EntryPacker {
  readonly counts: PackedCounts = { entries: 0, valid: 0, invalid: 0, duplicate: 0 };
  readonly #emit: (bytes: Uint8Array) => Promise<void>;
  readonly #duplicates = new ByteWriter(1024);
  #lastDuplicate = -1;
  #notes = new Uint8Array(2 * entriesPerFrame);
  readonly #more = new ByteWriter(4096);
  #ids = new Uint8Array(2 * entriesPerFrame * packedBytes(44));
  #length = 0;
  #idBytes = 0;
  #source = 0;
  #line = 0;
  #hasBegun = false;

  /** @param emit takes the bytes in order; they are good until it resolves */
  constructor(emit: (bytes: Uint8Array) => Promise<void>) {
    this.#emit = emit;
  }

  async add(entries: Entries): Promise<void> {
    const columns = entries.view();
    this.#reserve(entries.length);
    for (let index = 0; index < entries.length; index += 1) this.#addOne(columns, index);
    if (this.#length >= entriesPerFrame) await this.#close();
  }

  async end(): Promise<void> {
    if (this.#length > 0 || !this.#hasBegun) await this.#close();
  }

  /** The indexes of the duplicates, from 0, each less the one before it. */
  duplicates(): Uint8Array {
    return this.#duplicates.view();
  }

  #addOne({ texts, ends, sources, lines, marks, reasons }: EntryColumns, index: number): void {
    const mark = marks[index] ?? 0;
    const start = index === 0 ? 0 : (ends[index - 1] ?? 0);
    const end = ends[index] ?? 0;
    const source = sources[index] ?? 0;
    const line = lines[index] ?? 0;
    let note = mark === invalid ? invalidNote : end - start - shortestId;
    if (source !== this.#source || line !== this.#line + 1) {
      note |= jumpNote;
      this.#more.number(source);
      this.#more.number(line);
      this.#source = source;
    }
    this.#line = line;
    if (mark === invalid) {
      this.#more.text(texts.subarray(start, end));
      this.#more.text(Buffer.from(reasons.get(index) ?? ''));
    } else this.#idBytes = packDigits({ texts, start, end }, this.#ids, this.#idBytes);
    this.#notes[this.#length] = note;
    this.#length += 1;
    this.#count(mark);
  }

  #count(mark: number): void {
    const { counts } = this;
    if (mark === duplicate) {
      this.#duplicates.number(counts.entries - this.#lastDuplicate);
      this.#lastDuplicate = counts.entries;
      counts.duplicate += 1;
    } else if (mark === invalid) counts.invalid += 1;
    else counts.valid += 1;
    counts.entries += 1;
  }

  /** Batches with many entries that are not requested are larger than a frame. */
  #reserve(more: number): void {
    const needed = this.#length + more;
    if (needed <= this.#notes.length) return;
    const notes = new Uint8Array(Math.max(needed, 2 * this.#notes.length));
    notes.set(this.#notes.subarray(0, this.#length));
    this.#notes = notes;
    const ids = new Uint8Array(notes.length * packedBytes(44));
    ids.set(this.#ids.subarray(0, this.#idBytes));
    this.#ids = ids;
  }

  async #close(): Promise<void> {
    const notes = Buffer.concat([this.#notes.subarray(0, this.#length), this.#more.view()]);
    const packed = deflateRawSync(notes, { level });
    const head = Buffer.alloc(frameHeadBytes);
    for (const [place, value] of [this.#length, packed.length, this.#idBytes, notes.length].entries())
      head.writeUInt32LE(value, 4 * place);
    const before = this.#hasBegun ? [] : [packedHead];
    await this.#emit(Buffer.concat([...before, head, packed]));
    if (this.#idBytes > 0) await this.#emit(this.#ids.subarray(0, this.#idBytes));
    this.#hasBegun = true;
    this.#length = 0;
    this.#idBytes = 0;
    this.#more.clear();
  }
}
