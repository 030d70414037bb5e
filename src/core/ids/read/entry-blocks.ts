import { CheckedId } from '../../../lib/ids/asset-id.ts';
import { wordsPerHash } from '../../../lib/hash/hash-set-128.ts';
import { Entries, type EntryBlock, cleanId, shortText, whyInvalid } from '../entries.ts';
import type { ReadingListener } from './list-form.ts';

/** Entries that go down the flow together. */
const entriesPerBlock = 1024;

/** Collects the entries of one input into blocks. Every reader of a format ends here. */
export class EntryBlocks {
  readonly #input: string;
  readonly #source: number;
  readonly #listener: ReadingListener;
  readonly #id = new CheckedId();
  #open = new OpenBlock();
  readonly #full: OpenBlock[] = [];
  readonly #spare: OpenBlock[] = [];

  /**
   * @param input its name
   * @param source its index in the order of reading
   */
  constructor(input: string, source: number, listener: ReadingListener = {}) {
    this.#input = input;
    this.#source = source;
    this.#listener = listener;
  }

  /** True when the bytes from `start` up to `end` are an id. It is added by `addFound`, before another is looked at. */
  findId(bytes: Uint8Array, start: number, end: number): boolean {
    return this.#id.read(bytes, start, end);
  }

  /** Adds the id that was found last. */
  addFound(line: number): void {
    const open = this.#open;
    this.#id.hashTo(open.hashes, open.hashed);
    open.hashed += wordsPerHash;
    open.entries.addId(this.#id, this.#source, line);
    if (open.entries.length === entriesPerBlock) this.#cut();
  }

  /** Text that may be an id, as it stands in the file; false when it is blank, which is no entry. */
  addText(text: string, line: number): boolean {
    const cleaned = cleanId(text);
    if (cleaned === '') return false;
    if (this.#id.readText(cleaned)) this.addFound(line);
    else this.addInvalid(cleaned, line, whyInvalid(cleaned));
    return true;
  }

  /** What is no id, for the reason given. */
  addInvalid(text: string, line: number, reason: string): void {
    const { entries } = this.#open;
    const shown = shortText(text);
    this.#listener.onInvalid?.({ at: `${this.#input}:${line}`, text: shown, reason });
    entries.add({ text: shown, source: this.#source, line, state: 'invalid', reason });
    if (entries.length === entriesPerBlock) this.#cut();
  }

  /** Entries that were not taken yet. */
  get length(): number {
    return this.#full.length * entriesPerBlock + this.#open.entries.length;
  }

  get hasFull(): boolean {
    return this.#full.length > 0;
  }

  /** The blocks that are full; with `all` the last one too. */
  *take(all = false): Generator<EntryBlock, void, void> {
    if (all && this.#open.entries.length > 0) this.#cut();
    for (const block of this.#full.splice(0)) {
      const { entries, hashes, hashed } = block;
      yield { entries, hashes: hashes.subarray(0, hashed) };
      entries.clear();
      block.hashed = 0;
      this.#spare.push(block);
    }
  }

  #cut(): void {
    this.#full.push(this.#open);
    this.#open = this.#spare.pop() ?? new OpenBlock();
  }
}

/** A block in the making. */
class OpenBlock {
  readonly entries = Entries.take(entriesPerBlock);
  readonly hashes = new Uint32Array(entriesPerBlock * wordsPerHash);
  /** Words of the hashes so far. */
  hashed = 0;
}
