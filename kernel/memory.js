"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.header = void 0;
exports.slot = slot;
exports.setSlot = setSlot;
exports.addressSlot = addressSlot;
exports.allowReads = allowReads;
exports.byteAt = byteAt;
exports.blockAt = blockAt;
exports.copy = copy;
exports.freeAt = freeAt;
/**
 * Slots of 4 bytes that TypeScript fills before a call and reads after it (`src/lib/kernel/slots.ts`): mostly where regions lie, which it lays out. README.md
 * draws them.
 */
exports.header = memory.data(1024, 16);
function slot(number) {
    return load(exports.header + (number << 2));
}
function setSlot(number, value) {
    store(exports.header + (number << 2), value);
}
/** The same for an address. */
function addressSlot(number) {
    return slot(number);
}
let readFrom = 0;
let readTo = 0;
/** Of the build with checks: reads of text outside of this region trap. */
function allowReads(from, to) {
    readFrom = from;
    readTo = to;
}
/** A byte of the answer, or of the text of a cell. */
function byteAt(at) {
    if (isDefined(CHECKED))
        requireReadable(at, 1);
    return load(at);
}
/** Sixteen of them. */
function blockAt(at) {
    if (isDefined(CHECKED))
        requireReadable(at, 16);
    return v128.load(at);
}
function requireReadable(at, bytes) {
    if (at < readFrom || at + bytes > readTo)
        unreachable();
}
/** Copies sixteen bytes at a time, though fewer count: up to 15 behind either end are read and written. */
function copy(to, from, length) {
    if (length >= longBytes) {
        memory.copy(to, from, length);
        return;
    }
    for (let done = 0; done < length; done += 16)
        v128.store(to + done, v128.load(from + done));
}
/** From here on the engine's own copy is faster. */
const longBytes = 512;
/** Where TypeScript may put what it shares: nothing of the kernel lies behind. */
function freeAt() {
    return (__heap_base + 15) & ~15;
}
