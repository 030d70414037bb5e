import type { Hash } from 'node:crypto';
import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs';

/** Bytes that are collected before they are written. */
const flushBytes = 1 << 20;

/** A new file that is written from its beginning to its end. */
export class AppendedFile {
  readonly #fd: number;
  readonly #hash: Hash | undefined;
  readonly #buffer = Buffer.allocUnsafeSlow(flushBytes);
  #held = 0;
  /** How long it is. */
  bytes = 0;

  /** @param hash is given all that is written */
  constructor(path: string, hash?: Hash) {
    this.#hash = hash;
    this.#fd = openSync(path, 'w');
  }

  add(bytes: Uint8Array): void {
    this.bytes += bytes.length;
    if (this.#held + bytes.length > flushBytes) this.#flush();
    if (bytes.length > flushBytes) {
      this.#write(bytes);
      return;
    }
    this.#buffer.set(bytes, this.#held);
    this.#held += bytes.length;
  }

  /** Writes the rest; when it returns, everything is on the disk. */
  finish(): void {
    this.#flush();
    fsyncSync(this.#fd);
  }

  close(): void {
    closeSync(this.#fd);
  }

  #flush(): void {
    this.#write(this.#buffer.subarray(0, this.#held));
    this.#held = 0;
  }

  /** A file descriptor may take less than it is given. */
  #write(bytes: Uint8Array): void {
    this.#hash?.update(bytes);
    for (let done = 0; done < bytes.length; ) done += writeSync(this.#fd, bytes, done);
  }
}
