import { readFileSync } from 'node:fs';

/** Memory and files are cut into pages of this size; every disk takes writes that begin and end between them. */
export const pageBytes = 4096;

const wasmPageBytes = 65_536;

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
  spaceIsFree ??= isSpaceFree();
  const memory = spaceIsFree ? webAssemblyMemory(bytes) : undefined;
  if (memory === undefined) return Buffer.allocUnsafeSlow(bytes).buffer;
  aligned.add(memory);
  return memory;
}

/** Undefined when the system grants no more address space: nor will it be asked again. */
function webAssemblyMemory(bytes: number): ArrayBuffer | undefined {
  const pages = Math.ceil(bytes / wasmPageBytes);
  try {
    return new WebAssembly.Memory({ initial: pages, maximum: pages }).buffer;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    // V8 collects all garbage before it gives up: once is enough.
    spaceIsFree = false;
    return undefined;
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
