import { closeBrace, comma, openBrace } from '../../../lib/ascii.ts';

/** From here on a call into native code is faster than a loop. */
const longBytes = 64;

/** The text of an `extra` cell in the making: members without a column, within the objects that they stood in. */
export class ExtraText {
  readonly #source: Uint8Array;
  #bytes = Buffer.allocUnsafe(1024);
  #end = 0;
  /** The names (as `"name":`) of the objects that are being read, from the outside in; and how many of them are opened. */
  readonly #names: Uint8Array[] = [];
  #opened = 0;
  /** Whether the innermost opened object holds a member already. */
  #follows = false;

  constructor(source: Uint8Array) {
    this.#source = source;
  }

  begin(): void {
    this.#end = 0;
    this.#opened = 0;
    this.#follows = false;
    // Only a record that was refused leaves names behind.
    if (this.#names.length > 0) this.#names.length = 0;
  }

  /** An object begins that is the member of that name, given as `"name":`. */
  enter(name: Uint8Array): void {
    this.#names.push(name);
  }

  /** The object ends; true when something of it was kept. */
  leave(): boolean {
    const isOpened = this.#opened === this.#names.length;
    if (isOpened) {
      this.#opened -= 1;
      this.#byte(closeBrace);
      this.#follows = true;
    }
    this.#names.pop();
    return isOpened;
  }

  /** Keeps a member of the innermost object, with the value that lies there in the source. */
  add(name: Uint8Array, value: number, valueEnd: number): void {
    this.#begin(name);
    this.#copy(this.#source, value, valueEnd);
  }

  /** The same with a value as text. */
  addText(name: Uint8Array, text: string): void {
    this.#begin(name);
    this.#reserve(text.length * 3);
    this.#end += this.#bytes.write(text, this.#end);
  }

  /** The whole text, to be copied at once; undefined when nothing was kept. */
  finish(): Uint8Array | undefined {
    if (this.#end === 0) return undefined;
    this.#byte(closeBrace);
    return this.#bytes.subarray(0, this.#end);
  }

  #begin(name: Uint8Array): void {
    if (this.#end === 0) this.#byte(openBrace);
    while (this.#opened < this.#names.length) {
      const opening = this.#names[this.#opened];
      if (opening !== undefined) this.#name(opening);
      this.#byte(openBrace);
      this.#opened += 1;
      this.#follows = false;
    }
    this.#name(name);
    this.#follows = true;
  }

  #name(name: Uint8Array): void {
    if (this.#follows) this.#byte(comma);
    this.#copy(name, 0, name.length);
  }

  #byte(byte: number): void {
    this.#reserve(1);
    this.#bytes[this.#end] = byte;
    this.#end += 1;
  }

  #copy(source: Uint8Array, start: number, end: number): void {
    this.#reserve(end - start);
    if (end - start >= longBytes) this.#bytes.set(source.subarray(start, end), this.#end);
    else for (let at = start, to = this.#end; at < end; at += 1, to += 1) this.#bytes[to] = source[at] ?? 0;
    this.#end += end - start;
  }

  #reserve(bytes: number): void {
    const needed = this.#end + bytes;
    if (needed <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(needed, this.#bytes.length * 2));
    this.#bytes.copy(larger, 0, 0, this.#end);
    this.#bytes = larger;
  }
}
