"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.encodeCsv = encodeCsv;
exports.encodeJsonl = encodeJsonl;
const slots_1 = require("../src/lib/kernel/slots");
const made_1 = require("./made");
const memory_1 = require("./memory");
const tokens_1 = require("./tokens");
// Of the block.
let sourceAt = 0;
let textsAt = 0;
let fromAt = 0;
let lengthAt = 0;
let marksAt = 0;
let caresAt = 0;
let columns = 0;
let fixedAt = 0;
let startsAt = 0;
let quotesTexts = false;
let escapesFormulas = false;
let formulas = 0;
let replacements = 0;
/** Bytes of a cell besides its text and the fixed texts, at most: comma, two quotes, an apostrophe; and what is written sixteen at a time. */
const besideText = 32;
function begin() {
    sourceAt = (0, memory_1.addressSlot)(slots_1.answerSlot);
    textsAt = (0, memory_1.addressSlot)(slots_1.textsSlot);
    fromAt = (0, memory_1.addressSlot)(slots_1.cellFromSlot);
    lengthAt = (0, memory_1.addressSlot)(slots_1.cellLengthSlot);
    marksAt = (0, memory_1.addressSlot)(slots_1.cellMarksSlot);
    caresAt = (0, memory_1.addressSlot)(slots_1.careSlot);
    columns = (0, memory_1.slot)(slots_1.columnCountSlot);
    fixedAt = (0, memory_1.addressSlot)(slots_1.fixedSlot);
    startsAt = (0, memory_1.addressSlot)(slots_1.fixedStartsSlot);
    quotesTexts = (0, memory_1.slot)(slots_1.quoteTextsSlot) != 0;
    escapesFormulas = (0, memory_1.slot)(slots_1.escapeFormulasSlot) != 0;
    formulas = 0;
    replacements = 0;
}
/** Writes rows as CSV, as many as there is room for. */
function encodeCsv() {
    encode(true);
}
/** The same as JSONL. */
function encodeJsonl() {
    encode(false);
}
function encode(isCsv) {
    begin();
    const first = (0, memory_1.addressSlot)(slots_1.outSlot);
    const last = first + (0, memory_1.slot)(slots_1.outBytesSlot);
    const stop = first + (0, memory_1.slot)(slots_1.stopBytesSlot);
    const rows = (0, memory_1.slot)(slots_1.rowCountSlot);
    let out = first;
    let row = 0;
    for (; row < rows && out < stop; row += 1) {
        const found = formulas;
        const lost = replacements;
        const end = isCsv ? csvRow(row * columns, out, last) : jsonRow(row * columns, out, last);
        if (end == 0) {
            formulas = found;
            replacements = lost;
            break;
        }
        out = end;
    }
    (0, memory_1.setSlot)(slots_1.writtenSlot, (out - first));
    (0, memory_1.setSlot)(slots_1.rowsWrittenSlot, row);
    (0, memory_1.setSlot)(slots_1.formulasSlot, formulas);
    (0, memory_1.setSlot)(slots_1.replacedSlot, replacements);
}
function textOf(cell) {
    const from = load(fromAt + (cell << 2));
    return from < 0 ? textsAt + ~from : sourceAt + from;
}
function putFixed(out, number) {
    const start = load(startsAt + (number << 2));
    const end = load(startsAt + (number << 2) + 4);
    (0, memory_1.copy)(out, fixedAt + start, end - start);
    return out + (end - start);
}
/** Bytes of the fixed text of a number. */
function fixedLength(number) {
    const entry = startsAt + (number << 2);
    return load(entry + 4) - load(entry);
}
/** Each row gives where it ends; 0 where it might not end before `last`. */
function csvRow(first, start, last) {
    let out = start;
    const nullBytes = fixedLength(0);
    for (let column = 0; column < columns; column += 1) {
        const cell = first + column;
        const length = load(lengthAt + (cell << 2));
        if (column > 0) {
            store(out, tokens_1.comma);
            out += 1;
        }
        if (length < 0) {
            if (out + nullBytes + besideText > last)
                return 0;
            if (nullBytes > 0)
                out = putFixed(out, 0);
            continue;
        }
        // Every byte may be a quote, which is doubled.
        if (out + 2 * length + besideText > last)
            return 0;
        const care = load(caresAt + column);
        if (care == slots_1.plainCare || care == slots_1.timeCare) {
            (0, memory_1.copy)(out, textOf(cell), length);
            out += length;
        }
        else
            out = csvText(out, cell, length, care == slots_1.stringCare);
    }
    store(out, 0x0a);
    return out + 1;
}
function csvText(start, cell, length, isString) {
    let out = start;
    const at = textOf(cell);
    const marks = load(marksAt + cell);
    const isMarked = (marks & tokens_1.separators) != 0;
    const isQuoted = isMarked || quotesTexts || length == 0;
    if (isQuoted) {
        store(out, tokens_1.quote);
        out += 1;
    }
    if (isString) {
        if ((marks & tokens_1.replaced) != 0)
            replacements += 1;
        if (length > 0 && startsFormula(at, length)) {
            formulas += 1;
            if (escapesFormulas) {
                store(out, 0x27);
                out += 1;
            }
        }
    }
    if (isMarked)
        out = putDoubled(out, at, length);
    else {
        (0, memory_1.copy)(out, at, length);
        out += length;
    }
    if (isQuoted) {
        store(out, tokens_1.quote);
        out += 1;
    }
    return out;
}
/** A text with the quotes in it doubled. */
function putDoubled(start, from, length) {
    let out = start;
    const end = from + length;
    for (let at = from; at < end;) {
        const block = v128.load(at);
        v128.store(out, block);
        const quotes = i8x16.bitmask(i8x16.eq(block, i8x16.splat(0x22)));
        const plain = quotes == 0 ? 16 : ctz(quotes);
        if (at + plain >= end)
            return out + (end - at);
        at += plain;
        out += plain;
        if (quotes == 0)
            continue;
        store(out, 0x2222);
        at += 1;
        out += 2;
    }
    return out;
}
/** Whether a spreadsheet may run a text: `=`, `+`, `-`, `@`, tab, CR, and the full-width forms of the four signs (OWASP, "CSV Injection"). */
function startsFormula(at, length) {
    const byte = load(at);
    if (byte != 0xef)
        return byte == 0x3d || byte == 0x2b || byte == 0x2d || byte == 0x40 || byte == 0x09 || byte == 0x0d;
    if (length < 3 || load(at + 1) != 0xbc)
        return false;
    const third = load(at + 2);
    return third == 0x9d || third == 0x8b || third == 0x8d || third == 0xa0;
}
function jsonRow(first, start, last) {
    let out = start;
    for (let column = 0; column < columns; column += 1) {
        const cell = first + column;
        const length = load(lengthAt + (cell << 2));
        const key = 2 * column + (length < 0 ? 1 : 0);
        if (out + fixedLength(key) + besideText > last)
            return 0;
        out = putFixed(out, key);
        if (length < 0)
            continue;
        const at = textOf(cell);
        const care = load(caresAt + column);
        const marks = care == slots_1.stringCare ? load(marksAt + cell) : 0;
        const isEscaped = (marks & tokens_1.escapes) != 0;
        // An escape has six bytes at most.
        if (out + (isEscaped ? 6 * length : length) + besideText > last)
            return 0;
        if (isEscaped)
            out = putEscaped(out, at, length);
        else {
            (0, memory_1.copy)(out, at, length);
            out += length;
        }
        if ((marks & tokens_1.replaced) != 0)
            replacements += 1;
        if (care == slots_1.stringCare || care == slots_1.timeCare) {
            store(out, tokens_1.quote);
            out += 1;
        }
    }
    store(out, 0x0a7d);
    return out + 2;
}
/** A text as it stands inside a JSON string. */
function putEscaped(start, from, length) {
    let out = start;
    const end = from + length;
    for (let at = from; at < end;) {
        const block = v128.load(at);
        v128.store(out, block);
        const stops = (0, tokens_1.stopsIn)(block);
        const plain = stops == 0 ? 16 : ctz(stops);
        if (at + plain >= end)
            return out + (end - at);
        at += plain;
        out += plain;
        if (stops == 0)
            continue;
        out = putEscape(out, load(at));
        at += 1;
    }
    return out;
}
function putEscape(out, code) {
    store(out, tokens_1.backslash);
    const letter = (0, made_1.letterOf)(code);
    if (letter != 0) {
        store(out + 1, letter);
        return out + 2;
    }
    store(out + 1, tokens_1.lowerU);
    store(out + 2, 0x3030);
    store(out + 4, tokens_1.zero + (code >> 4));
    store(out + 5, (0, made_1.hexLetter)(code & 15));
    return out + 6;
}
