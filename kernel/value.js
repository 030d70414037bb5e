"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.valueEnd = valueEnd;
const memory_1 = require("./memory");
const made_1 = require("./made");
const tokens_1 = require("./tokens");
/** Deeper values are left to a parser that keeps its own stack. */
const maxDepth = 100;
/** Most names of the objects that are being read, over all depths. */
const maxNames = 1000;
/** Where each of them begins and ends, to find those that come twice. */
const names = memory.data(8000, 16);
let nameCount = 0;
/**
 * Any value, checked. Where its text is not that of JSON.stringify for blanks or escapes, `reprint` is raised. An object that JavaScript would print otherwise (a
 * name twice, one that begins with a digit) is refused.
 */
function valueEnd(at) {
    nameCount = 0;
    return anyEnd(at, 0);
}
function anyEnd(at, depth) {
    const byte = (0, memory_1.byteAt)(at);
    if (byte == tokens_1.quote)
        return innerString(at);
    if (byte == tokens_1.openBrace)
        return depth < maxDepth ? objectEnd(at, depth + 1) : 0;
    if (byte == tokens_1.openBracket)
        return depth < maxDepth ? arrayEnd(at, depth + 1) : 0;
    return byte > tokens_1.nine ? (0, tokens_1.literalEnd)(at) : (0, tokens_1.numberEnd)(at);
}
function innerString(at) {
    const end = (0, tokens_1.stringEnd)(at);
    (0, tokens_1.setSeparated)(true);
    if (tokens_1.isOddlyEscaped)
        (0, tokens_1.setReprint)(true);
    return end;
}
function objectEnd(start, depth) {
    let at = (0, tokens_1.next)(start + 1);
    if ((0, memory_1.byteAt)(at) == tokens_1.closeBrace)
        return at + 1;
    const outer = nameCount;
    // A bit for each name by a hash of it: only names with the same bit can be the same name.
    let known = 0;
    for (;;) {
        const name = at;
        at = innerString(at);
        if (at == 0 || (0, memory_1.byteAt)(name + 1) - tokens_1.zero < 10 || nameCount == maxNames)
            return 0;
        const bit = nameBit(name, at);
        if ((known & bit) != 0 && isRepeated(name, at, outer))
            return 0;
        known |= bit;
        remember(name, at);
        at = (0, tokens_1.next)(at);
        if ((0, memory_1.byteAt)(at) != tokens_1.colon)
            return 0;
        at = anyEnd((0, tokens_1.next)(at + 1), depth);
        if (at == 0)
            return 0;
        at = (0, tokens_1.next)(at);
        const byte = (0, memory_1.byteAt)(at);
        if (byte == tokens_1.closeBrace)
            break;
        if (byte != tokens_1.comma)
            return 0;
        at = (0, tokens_1.next)(at + 1);
    }
    nameCount = outer;
    return at + 1;
}
function nameBit(name, end) {
    const one = 1;
    const place = (end - name + (0, memory_1.byteAt)(name + 1) * 5 + (0, memory_1.byteAt)(end - 2) * 11) & 63;
    return one << place;
}
function remember(name, end) {
    const entry = names + (nameCount << 3);
    store(entry, name);
    store(entry + 4, end);
    nameCount += 1;
}
/** Whether a name is one of those remembered from `first` on. */
function isRepeated(name, end, first) {
    for (let index = first; index < nameCount; index += 1) {
        const entry = names + (index << 3);
        const other = load(entry);
        const length = load(entry + 4) - other;
        if (length == end - name && (0, made_1.holds)(name, other, length))
            return true;
    }
    return false;
}
function arrayEnd(start, depth) {
    let at = (0, tokens_1.next)(start + 1);
    if ((0, memory_1.byteAt)(at) == tokens_1.closeBracket)
        return at + 1;
    for (;;) {
        at = anyEnd(at, depth);
        if (at == 0)
            return 0;
        at = (0, tokens_1.next)(at);
        const byte = (0, memory_1.byteAt)(at);
        if (byte == tokens_1.closeBracket)
            break;
        if (byte != tokens_1.comma)
            return 0;
        (0, tokens_1.setSeparated)(true);
        at = (0, tokens_1.next)(at + 1);
    }
    return at + 1;
}
