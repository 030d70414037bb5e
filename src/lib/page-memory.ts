import { readFileSync } from 'node:fs';

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
