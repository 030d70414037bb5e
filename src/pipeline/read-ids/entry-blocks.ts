import { isAssetId } from '../../assets/asset-id.ts';
import type { ByteSpan } from '../../lib/split-lines.ts';
import type { IdEntry } from '../id-entry.ts';
import { cleanId, shortText } from './clean-id.ts';
import { whyInvalid } from './why-invalid.ts';

/** Entries that go down the flow together. */
const entriesPerBlock = 4096;

/** Collects the entries of one input into blocks. Every reader of a format ends here. */
export class EntryBlocks {
  readonly #source: number;
  #full: IdEntry[][] = [];
  #block: IdEntry[] = [];
  #decoded: Buffer | undefined;
  #decodedText = '';

  /** @param source index of the input, in the order of reading. */
  constructor(source: number) {
    this.#source = source;
  }

  /** An id that is already known to be exact. */
  addValid(text: string, line: number): void {
    this.#add({ text, source: this.#source, line, sighting: 'valid', reason: '' });
  }

  /** The same for an id that is all there is between start and end. */
  addExact({ bytes, start, end, line }: ByteSpan): void {
    // One string for all ids of a piece, and slices of it, cost half of a string for each id.
    if (this.#decoded !== bytes) {
      this.#decoded = bytes;
      this.#decodedText = bytes.toString('latin1');
    }
    this.addValid(this.#decodedText.slice(start, end), line);
  }

  /** Text that may be an id, as it stands in the file; false when it is blank, which is no entry. */
  addText(text: string, line: number): boolean {
    const cleaned = cleanId(text);
    if (cleaned === '') return false;
    if (isAssetId(cleaned)) this.addValid(cleaned, line);
    else this.addInvalid(cleaned, line, whyInvalid(cleaned));
    return true;
  }

  /** What is no id, for the reason given. */
  addInvalid(text: string, line: number, reason: string): void {
    this.#add({ text: shortText(text), source: this.#source, line, sighting: 'invalid', reason });
  }

  /** The blocks that are full; with `all` the last one too. */
  take(all = false): IdEntry[][] {
    if (all && this.#block.length > 0) {
      this.#full.push(this.#block);
      this.#block = [];
    }
    const taken = this.#full;
    if (taken.length > 0) this.#full = [];
    return taken;
  }

  #add(entry: IdEntry): void {
    this.#block.push(entry);
    if (this.#block.length < entriesPerBlock) return;
    this.#full.push(this.#block);
    this.#block = [];
  }
}
