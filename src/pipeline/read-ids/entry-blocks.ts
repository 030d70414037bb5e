import { CheckedId } from '../../assets/checked-id.ts';
import { wordsPerHash } from '../../lib/hash-128.ts';
import type { ByteSpan } from '../../lib/split-lines.ts';
import type { EntryBlock, IdEntry } from '../id-entry.ts';
import { cleanId, shortText } from './clean-id.ts';
import { whyInvalid } from './why-invalid.ts';

/** Entries that go down the flow together. */
const entriesPerBlock = 1024;

/** Collects the entries of one input into blocks. Every reader of a format ends here. */
export class EntryBlocks {
  readonly #source: number;
  readonly #id = new CheckedId();
  #full: EntryBlock[] = [];
  #entries: IdEntry[] = [];
  #hashes = new Uint32Array(0);
  #hashed = 0;
  #decoded: Buffer | undefined;
  #decodedText = '';

  /** @param source index of the input, in the order of reading. */
  constructor(source: number) {
    this.#source = source;
  }

  /** True when the bytes from `start` up to `end` are an id. It is added by `addFound`, before another is looked at. */
  findId(bytes: Uint8Array, start: number, end: number): boolean {
    return this.#id.read(bytes, start, end);
  }

  /** Adds the id that was found last. */
  addFound(text: string, line: number): void {
    if (this.#hashes.length === 0) this.#hashes = new Uint32Array(entriesPerBlock * wordsPerHash);
    this.#id.hashTo(this.#hashes, this.#hashed);
    this.#hashed += wordsPerHash;
    this.#add({ text, source: this.#source, line, sighting: 'valid', reason: '' });
  }

  /** The same for an id that is all there is between start and end. */
  addFoundIn({ bytes, start, end, line }: ByteSpan): void {
    // One string for all ids of a piece, and slices of it, cost half of a string for each id.
    if (this.#decoded !== bytes) {
      this.#decoded = bytes;
      this.#decodedText = bytes.toString('latin1');
    }
    this.addFound(this.#decodedText.slice(start, end), line);
  }

  /** Text that may be an id, as it stands in the file; false when it is blank, which is no entry. */
  addText(text: string, line: number): boolean {
    const cleaned = cleanId(text);
    if (cleaned === '') return false;
    if (this.#id.readText(cleaned)) this.addFound(cleaned, line);
    else this.addInvalid(cleaned, line, whyInvalid(cleaned));
    return true;
  }

  /** What is no id, for the reason given. */
  addInvalid(text: string, line: number, reason: string): void {
    this.#add({ text: shortText(text), source: this.#source, line, sighting: 'invalid', reason });
  }

  /** The blocks that are full; with `all` the last one too. */
  take(all = false): EntryBlock[] {
    if (all && this.#entries.length > 0) this.#cut();
    const taken = this.#full;
    if (taken.length > 0) this.#full = [];
    return taken;
  }

  #add(entry: IdEntry): void {
    this.#entries.push(entry);
    if (this.#entries.length === entriesPerBlock) this.#cut();
  }

  #cut(): void {
    this.#full.push({ entries: this.#entries, hashes: this.#hashes.subarray(0, this.#hashed) });
    this.#entries = [];
    this.#hashes = new Uint32Array(0);
    this.#hashed = 0;
  }
}
