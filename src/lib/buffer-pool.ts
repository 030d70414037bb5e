import { readFileSync } from 'node:fs';

/** Sizes are rounded up to a multiple of this, so that buffers of nearly equal size serve each other. */
const granuleBytes = 256 * 1024;

/**
 * Memory for large buffers, used again: from the system it comes in pages that are zeroed one by one, which costs more than
 * copying an answer into them. Large buffers begin at a page, so that a disk takes them where they lie. A caller may keep a buffer; it may return it only when nothing reads it any more.
 */
export class BufferPool {
  readonly #mostBytes: number;
  #free: ArrayBufferLike[] = [];
  #freeBytes = 0;
  readonly #lent = new WeakSet<ArrayBufferLike>();

  /** @param mostBytes most bytes that lie here unused; what is given back beyond them is left to the garbage collector */
  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes;
  }

  /** A buffer of that length; what it holds is not defined. */
  take(length: number): Buffer {
    const at = this.#free.findIndex(({ byteLength }) => byteLength >= length);
    const [memory = fresh(roundedUp(length))] = at < 0 ? [] : this.#free.splice(at, 1);
    if (at >= 0) this.#freeBytes -= memory.byteLength;
    this.#lent.add(memory);
    return Buffer.from(memory, 0, length);
  }

  /** Takes back what `take` gave, once; other buffers are left alone. */
  give({ buffer }: Uint8Array): void {
    if (!this.#lent.delete(buffer)) return;
    if (this.#freeBytes + buffer.byteLength > this.#mostBytes) return;
    this.#free.push(buffer);
    this.#freeBytes += buffer.byteLength;
  }
}

/** Small answers are many, and go to the disk through the page cache. */
function fresh(bytes: number): ArrayBufferLike {
  return bytes > granuleBytes ? pageMemory(bytes) : Buffer.allocUnsafeSlow(bytes).buffer;
}

function roundedUp(bytes: number): number {
  return Math.ceil(bytes / granuleBytes) * granuleBytes;
}

/** Linux cuts memory and files into pages of this size; a disk takes direct writes that begin and end between them. */
export const pageBytes = 4096;

const wasmPageBytes = 65_536;

const aligned = new WeakSet<ArrayBufferLike>();

/**
 * New memory of at least so many bytes. It begins at a page where it can: WebAssembly's memory is the only kind that does. Each
 * one takes gigabytes of address space; where that is limited, the HTTP library and the Parquet encoder need it.
 */
export function pageMemory(bytes: number): ArrayBufferLike {
  isAddressSpaceFree ??= readsUnlimited();
  if (isAddressSpaceFree) {
    const pages = Math.ceil(bytes / wasmPageBytes);
    try {
      const { buffer } = new WebAssembly.Memory({ initial: pages, maximum: pages });
      aligned.add(buffer);
      return buffer;
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      // V8 collects all garbage before it gives up: once is enough.
      isAddressSpaceFree = false;
    }
  }
  return Buffer.allocUnsafeSlow(bytes).buffer;
}

/** True for bytes of `pageMemory` that begin at a page. */
export function beginsAtPage({ buffer, byteOffset }: Uint8Array): boolean {
  return aligned.has(buffer) && byteOffset % pageBytes === 0;
}

/** Rounds up to whole pages. */
export function pagesFrom(bytes: number): number {
  return Math.ceil(bytes / pageBytes) * pageBytes;
}

let isAddressSpaceFree: boolean | undefined;

/** False on other systems than Linux, whose disks take no direct writes from here. */
function readsUnlimited(): boolean {
  try {
    return /^Max address space +unlimited /m.test(readFileSync('/proc/self/limits', 'latin1'));
  } catch {
    return false;
  }
}
