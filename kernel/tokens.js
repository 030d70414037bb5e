"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.fractionEnd = exports.digits = exports.isOddlyEscaped = exports.isEscaped = exports.stringMarks = exports.separated = exports.reprint = exports.replaced = exports.escapes = exports.separators = exports.closeBrace = exports.openBrace = exports.lowerU = exports.lowerT = exports.lowerN = exports.lowerF = exports.closeBracket = exports.backslash = exports.openBracket = exports.colon = exports.nine = exports.zero = exports.minus = exports.comma = exports.quote = void 0;
exports.setReprint = setReprint;
exports.setSeparated = setSeparated;
exports.next = next;
exports.isBlank = isBlank;
exports.stringEnd = stringEnd;
exports.stopsIn = stopsIn;
exports.shortEscape = shortEscape;
exports.hexDigit = hexDigit;
exports.numberEnd = numberEnd;
exports.literalEnd = literalEnd;
const memory_1 = require("./memory");
/**
 * Tokens of JSON. Each function begins at `at` and gives where its token ends; 0 when it refuses it. What it refuses may still be JSON, what it takes is (RFC 8259,
 * as the bytes are UTF-8). The zero behind the answer is refused by all, so none reads further.
 */
exports.quote = 0x22;
exports.comma = 0x2c;
exports.minus = 0x2d;
exports.zero = 0x30;
exports.nine = 0x39;
exports.colon = 0x3a;
exports.openBracket = 0x5b;
exports.backslash = 0x5c;
exports.closeBracket = 0x5d;
exports.lowerF = 0x66;
exports.lowerN = 0x6e;
exports.lowerT = 0x74;
exports.lowerU = 0x75;
exports.openBrace = 0x7b;
exports.closeBrace = 0x7d;
const space = 0x20;
/** `textMarks` of `src/core/records/row-block.ts`. */
exports.separators = 1;
exports.escapes = 2;
exports.replaced = 4;
/** Set when something is taken whose text is not the one that JSON.stringify gives: blanks, escapes. */
exports.reprint = false;
/** Set when a value is taken that holds a comma or a quote. */
exports.separated = false;
function setReprint(value) {
    exports.reprint = value;
}
function setSeparated(value) {
    exports.separated = value;
}
/** Behind the blanks, if any. */
function next(at) {
    return (0, memory_1.byteAt)(at) > space ? at : behindBlanks(at);
}
function behindBlanks(start) {
    let at = start;
    while (isBlank((0, memory_1.byteAt)(at)))
        at += 1;
    if (at != start)
        exports.reprint = true;
    return at;
}
function isBlank(byte) {
    return byte == space || byte == 0x0a || byte == 0x0d || byte == 0x09;
}
/** Of the string that was taken last: `separators` when it holds a comma as such. */
exports.stringMarks = 0;
/** It holds a backslash. */
exports.isEscaped = false;
/** JSON.stringify would print it in other words, as `\/` or `A`. */
exports.isOddlyEscaped = false;
function stringEnd(start) {
    if ((0, memory_1.byteAt)(start) != exports.quote)
        return 0;
    let at = start + 1;
    let commas = 0;
    exports.isEscaped = false;
    exports.isOddlyEscaped = false;
    for (;;) {
        const block = (0, memory_1.blockAt)(at);
        const stops = stopsIn(block);
        const found = i8x16.bitmask(i8x16.eq(block, i8x16.splat(0x2c)));
        if (stops == 0) {
            commas |= found;
            at += 16;
            continue;
        }
        // Bits below the first stop.
        commas |= found & (stops - 1) & ~stops;
        at += ctz(stops);
        const byte = (0, memory_1.byteAt)(at);
        if (byte == exports.quote)
            break;
        if (byte != exports.backslash)
            return 0;
        at = escapeEnd(at + 1);
        if (at == 0)
            return 0;
        exports.isEscaped = true;
    }
    exports.stringMarks = commas == 0 ? 0 : exports.separators;
    return at + 1;
}
/** A bit for each byte that is a quote, a backslash or a control character. */
function stopsIn(block) {
    const quotes = i8x16.eq(block, i8x16.splat(0x22));
    const backslashes = i8x16.eq(block, i8x16.splat(0x5c));
    return i8x16.bitmask(v128.or(v128.or(quotes, backslashes), i8x16.lt_u(block, i8x16.splat(0x20))));
}
function escapeEnd(at) {
    const byte = (0, memory_1.byteAt)(at);
    if (byte == exports.lowerU) {
        exports.isOddlyEscaped = true;
        for (let digit = 1; digit <= 4; digit += 1)
            if (hexDigit((0, memory_1.byteAt)(at + digit)) < 0)
                return 0;
        return at + 5;
    }
    if (byte == 0x2f)
        exports.isOddlyEscaped = true;
    return shortEscape(byte) < 0 ? 0 : at + 1;
}
/** What a backslash and this character stand for; -1 when for nothing. */
function shortEscape(byte) {
    switch (byte) {
        case exports.quote:
        case exports.backslash:
        case 0x2f:
            return byte;
        case 0x62:
            return 0x08;
        case 0x66:
            return 0x0c;
        case 0x6e:
            return 0x0a;
        case 0x72:
            return 0x0d;
        case 0x74:
            return 0x09;
        default:
            return -1;
    }
}
/** The value of a hexadecimal digit; -1 for others. */
function hexDigit(byte) {
    if (byte - exports.zero < 10)
        return byte - exports.zero;
    const letter = (byte | 0x20) - 0x61;
    return letter < 6 ? letter + 10 : -1;
}
/** Of the number that was taken last: its digits when it is an integer but minus zero, else 0. */
exports.digits = 0;
/**
 * Of the number that was taken last, where it is a fraction of at most 7 + 6 digits: the end of a double's shortest text, without the zeros at its end (of `0.0`,
 * the first `0`). 0 for other numbers.
 */
exports.fractionEnd = 0;
function numberEnd(start) {
    const isNegative = (0, memory_1.byteAt)(start) == exports.minus;
    const first = isNegative ? start + 1 : start;
    let at = digitsEnd(first);
    const whole = at - first;
    const leadsWithZero = (0, memory_1.byteAt)(first) == exports.zero;
    if (whole == 0 || (leadsWithZero && whole > 1))
        return 0;
    exports.digits = isNegative && leadsWithZero ? 0 : whole;
    exports.fractionEnd = 0;
    if ((0, memory_1.byteAt)(at) == 0x2e) {
        const fraction = at + 1;
        at = digitsEnd(fraction);
        if (at == fraction)
            return 0;
        exports.digits = 0;
        if (whole <= 7 && at - fraction <= 6)
            exports.fractionEnd = shortEnd(fraction, at);
    }
    if (((0, memory_1.byteAt)(at) | 0x20) == 0x65) {
        at += 1;
        if ((0, memory_1.byteAt)(at) == 0x2b || (0, memory_1.byteAt)(at) == exports.minus)
            at += 1;
        const exponent = at;
        at = digitsEnd(exponent);
        if (at == exponent)
            return 0;
        exports.digits = 0;
        exports.fractionEnd = 0;
    }
    return at;
}
function digitsEnd(start) {
    let at = start;
    while ((0, memory_1.byteAt)(at) - exports.zero < 10)
        at += 1;
    return at;
}
function shortEnd(fraction, end) {
    let last = end;
    while (last > fraction && (0, memory_1.byteAt)(last - 1) == exports.zero)
        last -= 1;
    return last > fraction ? last : fraction - 1;
}
/** `true`, `false` or `null`. A load of four bytes stays in the padding. */
function literalEnd(at) {
    const four = i32x4.extract_lane((0, memory_1.blockAt)(at), 0);
    if (four == 0x65757274 || four == 0x6c6c756e)
        return at + 4;
    return four == 0x736c6166 && (0, memory_1.byteAt)(at + 4) == 0x65 ? at + 5 : 0;
}
