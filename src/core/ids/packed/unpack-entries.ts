import { inflateRawSync } from 'node:zlib';
import { longestId, shortestId } from '../../../lib/asset-id.ts';
import { Entries, entryStates, type EntryColumns, newColumns } from '../entries.ts';
import { ByteReader } from './byte-writer.ts';
import { frameHeadBytes, invalidNote, jumpNote, packedHead, unpackDigits } from './packed-form.ts';

/** Bytes that lie somewhere, by their place. */
export type ReadBytes = (position: number, length: number) => Promise<Uint8Array>;

/** The bytes are not those of packed entries. */
export class NotPacked extends Error {}

/**
 * The entries that an `EntryPacker` packed, a frame at a time, with duplicates marked.
 * @throws {NotPacked}
 */
export async function* unpackEntries(read: ReadBytes, duplicates: Uint8Array): AsyncGenerator<Entries, void, void> {
  const repeated = new RepeatedIndexes(duplicates);
  const head = await read(0, packedHead.length);
  if (!packedHead.equals(head)) throw new NotPacked('it does not begin as packed ids do');
  let position = packedHead.length;
  const place = { source: 0, line: 0 };
  for (let first = 0; ; ) {
    const frame = Buffer.from(await read(position, frameHeadBytes));
    if (frame.length === 0) return;
    if (frame.length < frameHeadBytes) throw new NotPacked('it is cut');
    const [length = 0, noteBytes = 0, idBytes = 0, unpackedBytes = 0] = [0, 4, 8, 12].map((at) =>
      frame.readUInt32LE(at),
    );
    const body = await read(position + frameHeadBytes, noteBytes + idBytes);
    if (body.length < noteBytes + idBytes) throw new NotPacked('it is cut');
    position += frameHeadBytes + noteBytes + idBytes;
    const notes = inflateRawSync(body.subarray(0, noteBytes), { maxOutputLength: Math.max(1, unpackedBytes) });
    const entries = Entries.of(unpackFrame({ length, notes, ids: body.subarray(noteBytes) }, place));
    for (let index = repeated.from(first, length); index >= 0; index = repeated.from(first, length))
      entries.markDuplicate(index);
    first += length;
    yield entries;
  }
}

interface Frame {
  readonly length: number;
  readonly notes: Uint8Array;
  readonly ids: Uint8Array;
}

/** @param place input and line of the entry before; those of the last one afterwards */
function unpackFrame({ length, notes, ids }: Frame, place: { source: number; line: number }): EntryColumns {
  const more = new ByteReader(notes, length);
  const columns = newColumns(length, notes.length + length * longestId + 4);
  const { texts, ends, sources, lines, marks, reasons } = columns;
  let from = 0;
  let end = 0;
  for (let index = 0; index < length; index += 1) {
    const note = notes[index] ?? 0;
    place.line += 1;
    if ((note & jumpNote) !== 0) {
      place.source = more.number();
      place.line = more.number();
    }
    if ((note & invalidNote) === invalidNote) {
      const text = more.text();
      texts.set(text, end);
      end += text.length;
      marks[index] = invalid;
      reasons.set(index, Buffer.from(more.text()).toString());
    } else {
      const characters = (note & invalidNote) + shortestId;
      from = unpackDigits({ packed: ids, from, characters }, texts, end);
      end += characters;
    }
    ends[index] = end;
    sources[index] = place.source;
    lines[index] = place.line;
  }
  return { ...columns, texts: texts.subarray(0, end) };
}

const invalid = entryStates.indexOf('invalid');

/** The indexes of duplicates, as they were packed: in ascending order. */
class RepeatedIndexes {
  readonly #reader: ByteReader;
  #last = -1;
  #next: number | undefined;

  constructor(bytes: Uint8Array) {
    this.#reader = new ByteReader(bytes);
  }

  /** The next one among `length` entries from `first` on, counted from there; -1 when there is none. */
  from(first: number, length: number): number {
    if (this.#next === undefined && !this.#reader.isAtEnd) this.#next = this.#last + this.#reader.number();
    if (this.#next === undefined || this.#next >= first + length) return -1;
    const index = this.#next - first;
    this.#last = this.#next;
    this.#next = undefined;
    return index;
  }
}
