import { readFileSync } from 'node:fs';

/** Memory and files are cut into pages of this size; every disk takes writes that begin and end between them. */
export const pageBytes = 4096;

const wasmPageBytes = 65_536;
/** More than these, 4 GB, no WebAssembly memory has. */
const mostWasmPages = 65_536;

/** As far as it is used here: TypeScript knows it only together with a browser's types. */
declare const WebAssembly: {
  readonly Memory: new (pages: { initial: number; maximum: number }) => { readonly buffer: ArrayBuffer };
};

/** Memory known to begin at a page. */
const aligned = new WeakSet<ArrayBufferLike>();

/**
 * New memory that begins at a page where the system is known to take it so to a disk, without a copy in between; else ordinary
 * memory. WebAssembly's is the only kind that begins at a page. It takes gigabytes of address space, if none of memory, so
 * where that is limited it is left to those who can do with no other: the HTTP library and the Parquet encoder.
 */
export function alignedMemory(bytes: number): ArrayBufferLike {
  const memory = webAssemblyMemory(bytes);
  if (memory === undefined) {
    // V8 collects all garbage before it gives up: once is enough.
    spaceIsFree = false;
    return Buffer.allocUnsafeSlow(bytes).buffer;
  }
  aligned.add(memory);
  return memory;
}

/**
 * New memory, all zeros, that the system gives and takes back by itself, where address space is not limited; else ordinary
 * memory. Once a large piece of that is freed, the C library takes the next ones of up to its size (32 MB at most) out of one
 * heap with all that is small, and gives less of it back.
 * @throws {RangeError} when there is none
 */
export function separateMemory(bytes: number): ArrayBuffer {
  return webAssemblyMemory(bytes) ?? new ArrayBuffer(bytes);
}

/** At least so many bytes; undefined where address space is limited, or the system grants no more. */
function webAssemblyMemory(bytes: number): ArrayBuffer | undefined {
  spaceIsFree ??= isSpaceFree();
  const pages = Math.ceil(bytes / wasmPageBytes);
  if (!spaceIsFree || pages > mostWasmPages) return undefined;
  try {
    return new WebAssembly.Memory({ initial: pages, maximum: pages }).buffer;
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

let spaceIsFree: boolean | undefined;

/** True on Linux, unless this process was given a limit of address space. */
function isSpaceFree(): boolean {
  try {
    return /^Max address space +unlimited /m.test(readFileSync('/proc/self/limits', 'latin1'));
  } catch {
    return false;
  }
}

/** Do these bytes begin at a page of memory? */
export function beginsAtPage({ buffer, byteOffset }: Uint8Array): boolean {
  return aligned.has(buffer) && byteOffset % pageBytes === 0;
}

/** A number of bytes, rounded up to whole pages. */
export function pagesFrom(bytes: number): number {
  return Math.ceil(bytes / pageBytes) * pageBytes;
}
