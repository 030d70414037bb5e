/**
 * Slots of 4 bytes that TypeScript fills before a call and reads after it (`src/lib/kernel/slots.ts`): mostly where regions lie, which it lays out. README.md
 * draws them.
 */
export const header: usize = memory.data(1024, 16);

export function slot(number: i32): i32 {
  return load<i32>(header + ((<usize>number) << 2));
}

export function setSlot(number: i32, value: i32): void {
  store<i32>(header + ((<usize>number) << 2), value);
}

/** The same for an address. */
export function addressSlot(number: i32): usize {
  return <usize>(<u32>slot(number));
}

let readFrom: usize = 0;
let readTo: usize = 0;

/** Of the build with checks: reads of text outside of this region trap. */
export function allowReads(from: usize, to: usize): void {
  readFrom = from;
  readTo = to;
}

/** A byte of the answer, or of the text of a cell. */
export function byteAt(at: usize): u32 {
  if (isDefined(CHECKED)) requireReadable(at, 1);
  return load<u8>(at);
}

/** Sixteen of them. */
export function blockAt(at: usize): v128 {
  if (isDefined(CHECKED)) requireReadable(at, 16);
  return v128.load(at);
}

function requireReadable(at: usize, bytes: usize): void {
  if (at < readFrom || at + bytes > readTo) unreachable();
}

/** Copies sixteen bytes at a time, though fewer count: up to 15 behind either end are read and written. */
export function copy(to: usize, from: usize, length: i32): void {
  if (length >= longBytes) {
    memory.copy(to, from, <usize>length);
    return;
  }
  for (let done: usize = 0; done < <usize>length; done += 16) v128.store(to + done, v128.load(from + done));
}

/** From here on the engine's own copy is faster. */
const longBytes: i32 = 512;

/** Where TypeScript may put what it shares: nothing of the kernel lies behind. */
export function freeAt(): usize {
  return (__heap_base + 15) & ~15;
}
