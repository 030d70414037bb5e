"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.isFull = void 0;
exports.beginMade = beginMade;
exports.madeEnd = madeEnd;
exports.cutMade = cutMade;
exports.setFull = setFull;
exports.hasRoom = hasRoom;
exports.madeFrom = madeFrom;
exports.addBytes = addBytes;
exports.addByte = addByte;
exports.addNumber = addNumber;
exports.addUnescaped = addUnescaped;
exports.textMarks = textMarks;
exports.addReprinted = addReprinted;
exports.letterOf = letterOf;
exports.hexLetter = hexLetter;
exports.holds = holds;
exports.madeAddress = madeAddress;
const memory_1 = require("./memory");
const tokens_1 = require("./tokens");
/**
 * Texts that the answer does not hold: unescaped strings, JSON in JSON.stringify's words, `extra`. Who adds some reserves room before; where there is none, the
 * record is refused, `isFull` says why, and TypeScript gives more room or takes the long way.
 */
let end = 0;
let last = 0;
/** What is to be added to an address to have its place in the texts of the whole answer. */
let shift = 0;
exports.isFull = false;
function beginMade(at, bytes, before) {
    end = at;
    last = at + bytes;
    shift = before - at;
}
function madeEnd() {
    return end;
}
function cutMade(at) {
    end = at;
}
function setFull(value) {
    exports.isFull = value;
}
/** Whether so many bytes fit, and sixteen that are written though they do not count. */
function hasRoom(bytes) {
    if (end + bytes + 16 <= last)
        return true;
    exports.isFull = true;
    return false;
}
/** `from` of a cell whose text begins here. */
function madeFrom(at) {
    return ~(at + shift);
}
function addBytes(from, length) {
    (0, memory_1.copy)(end, from, length);
    end += length;
}
function addByte(byte) {
    store(end, byte);
    end += 1;
}
/** Digits of a number that is not negative. */
function addNumber(number) {
    let power = 1;
    while (number / power >= 10)
        power *= 10;
    for (; power > 0; power /= 10)
        addByte(tokens_1.zero + ((number / power) % 10));
}
/** What the text of a string from `start` up to `stop` stands for. Never longer than it. Gives the marks, without that of commas. */
function addUnescaped(start, stop) {
    let marks = 0;
    for (let at = start; at < stop;) {
        const block = (0, memory_1.blockAt)(at);
        v128.store(end, block);
        const backslashes = i8x16.bitmask(i8x16.eq(block, i8x16.splat(0x5c)));
        const plain = (backslashes == 0 ? 16 : ctz(backslashes));
        const taken = min(plain, stop - at);
        end += taken;
        at += taken;
        if (plain >= 16 || at >= stop)
            continue;
        const code = codeOf(at + 1);
        at += codeBytes;
        if (isSurrogate(code))
            marks |= tokens_1.replaced;
        marks |= marksOf(code);
        addUtf8(isSurrogate(code) ? 0xfffd : code);
    }
    return marks;
}
/** Bytes that `codeOf` looked at, with the backslash. */
let codeBytes = 0;
/** The character that the escape stands for whose backslash lies before `at`; a lone surrogate is itself. */
function codeOf(at) {
    const byte = (0, memory_1.byteAt)(at);
    codeBytes = 2;
    if (byte != tokens_1.lowerU)
        return (0, tokens_1.shortEscape)(byte);
    codeBytes = 6;
    const code = hexCode(at + 1);
    if (code >> 10 != 0x36 || (0, memory_1.byteAt)(at + 5) != tokens_1.backslash || (0, memory_1.byteAt)(at + 6) != tokens_1.lowerU)
        return code;
    const low = hexCode(at + 7);
    if (low >> 10 != 0x37)
        return code;
    codeBytes = 12;
    return 0x10000 + ((code & 0x3ff) << 10) + (low & 0x3ff);
}
function hexCode(at) {
    return (((0, tokens_1.hexDigit)((0, memory_1.byteAt)(at)) << 12) |
        ((0, tokens_1.hexDigit)((0, memory_1.byteAt)(at + 1)) << 8) |
        ((0, tokens_1.hexDigit)((0, memory_1.byteAt)(at + 2)) << 4) |
        (0, tokens_1.hexDigit)((0, memory_1.byteAt)(at + 3)));
}
function isSurrogate(code) {
    return code >> 11 == 0x1b;
}
function addUtf8(code) {
    if (code < 0x80)
        return addByte(code);
    if (code < 0x800)
        addByte(0xc0 | (code >> 6));
    else {
        if (code < 0x10000)
            addByte(0xe0 | (code >> 12));
        else {
            addByte(0xf0 | (code >> 18));
            addByte(0x80 | ((code >> 12) & 0x3f));
        }
        addByte(0x80 | ((code >> 6) & 0x3f));
    }
    addByte(0x80 | (code & 0x3f));
}
/** `textMarks` of a character. */
function marksOf(code) {
    const isEscape = code < 0x20 || code == tokens_1.quote || code == tokens_1.backslash;
    const isSeparator = code == 0x2c || code == tokens_1.quote || code == 0x0a || code == 0x0d;
    return (isEscape ? tokens_1.escapes : 0) | (isSeparator ? tokens_1.separators : 0);
}
/** `textMarks` of a text. */
function textMarks(start, stop) {
    let marks = 0;
    for (let at = start; at < stop; at += 1)
        marks |= marksOf((0, memory_1.byteAt)(at));
    return marks;
}
/** A value in the words of JSON.stringify. It was taken before, so that it is one; and no name comes twice or begins with a digit. Never longer than it was. */
function addReprinted(start, stop) {
    for (let at = start; at < stop;) {
        const byte = (0, memory_1.byteAt)(at);
        if (byte == tokens_1.quote) {
            const behind = (0, tokens_1.stringEnd)(at);
            addCanonical(at + 1, behind - 1);
            at = behind;
            continue;
        }
        if (!(0, tokens_1.isBlank)(byte))
            addByte(byte);
        at += 1;
    }
}
function addCanonical(start, stop) {
    addByte(tokens_1.quote);
    for (let at = start; at < stop;) {
        if ((0, memory_1.byteAt)(at) != tokens_1.backslash) {
            addByte((0, memory_1.byteAt)(at));
            at += 1;
            continue;
        }
        const code = codeOf(at + 1);
        at += codeBytes;
        if (isSurrogate(code))
            addHexEscape(code);
        else if (code < 0x20 || code == tokens_1.quote || code == tokens_1.backslash)
            addEscape(code);
        else
            addUtf8(code);
    }
    addByte(tokens_1.quote);
}
/** As JSON.stringify escapes a character that may not stand for itself. */
function addEscape(code) {
    const letter = letterOf(code);
    if (letter == 0)
        return addHexEscape(code);
    addByte(tokens_1.backslash);
    addByte(letter);
}
function letterOf(code) {
    switch (code) {
        case 0x08:
            return 0x62;
        case 0x09:
            return 0x74;
        case 0x0a:
            return 0x6e;
        case 0x0c:
            return 0x66;
        case 0x0d:
            return 0x72;
        case tokens_1.quote:
        case tokens_1.backslash:
            return code;
        default:
            return 0;
    }
}
function addHexEscape(code) {
    addByte(tokens_1.backslash);
    addByte(tokens_1.lowerU);
    for (let shiftBy = 12; shiftBy >= 0; shiftBy -= 4)
        addByte(hexLetter((code >> shiftBy) & 15));
}
function hexLetter(digit) {
    return digit < 10 ? tokens_1.zero + digit : 0x57 + digit;
}
/** Whether the text from `start` on is these bytes. */
function holds(start, other, length) {
    return memory.compare(start, other, length) == 0;
}
/** Where the text of a cell lies whose `from` is below zero. It is of the record that is being read. */
function madeAddress(from) {
    return (~from - shift);
}
