import { closeSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';

/** Bytes of a key, and of an entry's head: the key and the length of its record. */
export const keyBytes = 32;
export const headBytes = keyBytes + 4;

/** One record on its way into a sorted store. */
export interface Entry {
  readonly key: Buffer;
  readonly packed: Buffer;
}

/** Bytes that are collected for a file before they are written to it. */
const flushBytes = 64 * 1024;

/**
 * 256 files, one for each value of one byte of the key. Keys are spread evenly, so each file is a small part of the
 * whole that can be sorted in memory; and the files follow each other in the order of keys.
 */
export class SpillFiles {
  readonly #folder: string;
  readonly #byte: number;
  readonly #files = new Map<number, { readonly fd: number; readonly buffer: Buffer; length: number }>();

  /** @param byte index of the key byte that selects the file. */
  constructor(folder: string, byte: number) {
    mkdirSync(folder, { recursive: true });
    this.#folder = folder;
    this.#byte = byte;
  }

  add({ key, packed }: Entry): void {
    const file = this.#file(key[this.#byte] ?? 0);
    const bytes = headBytes + packed.length;
    if (file.length + bytes > file.buffer.length) this.#flush(file);
    const fits = bytes <= file.buffer.length;
    const buffer = fits ? file.buffer : Buffer.allocUnsafe(bytes);
    const at = fits ? file.length : 0;
    key.copy(buffer, at);
    buffer.writeUInt32LE(packed.length, at + keyBytes);
    packed.copy(buffer, at + headBytes);
    if (fits) file.length += bytes;
    else writeAll(file.fd, buffer);
  }

  /** Ends the writing; the paths of the files there are, in the order of keys. */
  finish(): string[] {
    const numbers = [...this.#files.keys()].sort((a, b) => a - b);
    for (const file of this.#files.values()) this.#flush(file);
    this.close();
    return numbers.map((number) => this.#path(number));
  }

  /** Lets go of the files as they are: after an error there is nothing more to write. */
  close(): void {
    for (const { fd } of this.#files.values()) closeSync(fd);
    this.#files.clear();
  }

  #file(number: number): { readonly fd: number; readonly buffer: Buffer; length: number } {
    let file = this.#files.get(number);
    if (file === undefined) {
      file = { fd: openSync(this.#path(number), 'w'), buffer: Buffer.allocUnsafeSlow(flushBytes), length: 0 };
      this.#files.set(number, file);
    }
    return file;
  }

  #path(number: number): string {
    return join(this.#folder, `${this.#byte}-${String(number).padStart(3, '0')}`);
  }

  #flush(file: { readonly fd: number; readonly buffer: Buffer; length: number }): void {
    writeAll(file.fd, file.buffer.subarray(0, file.length));
    file.length = 0;
  }
}

/** A file descriptor may take less than it is given. */
function writeAll(fd: number, bytes: Buffer): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at);
}
