"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.jsonMarks = void 0;
exports.booleanCell = booleanCell;
exports.stringCell = stringCell;
exports.numberCell = numberCell;
exports.beginText = beginText;
exports.endText = endText;
exports.jsonValueCell = jsonValueCell;
exports.jsonCell = jsonCell;
exports.printedEnd = printedEnd;
exports.printedAt = printedAt;
exports.printedLength = printedLength;
exports.traitCell = traitCell;
exports.typeCell = typeCell;
exports.nullTrait = nullTrait;
const host_1 = require("./host");
const memory_1 = require("./memory");
const made_1 = require("./made");
const plan_1 = require("./plan");
const rows_1 = require("./rows");
const state_1 = require("./state");
const tokens_1 = require("./tokens");
const value_1 = require("./value");
/** Marks of JSON text with a string or a comma in it. */
exports.jsonMarks = tokens_1.separators | tokens_1.escapes;
/** JSON types of a trait's value, in the order of their names among the constants. */
const typeString = 0;
const typeNumber = 1;
const typeBoolean = 2;
const typeArray = 3;
const typeObject = 4;
const typeNull = 5;
/** Where the names of the types begin among them, and the last ends. */
const typeStarts = memory.data([0, 6, 12, 19, 24, 30, 34]);
// Each function fills a cell with the value that begins at `at`, and gives where that ends; 0 when the cell cannot hold it as it stands there.
function booleanCell(table, cell, at) {
    const byte = (0, memory_1.byteAt)(at);
    const end = byte == tokens_1.lowerT || byte == tokens_1.lowerF ? (0, tokens_1.literalEnd)(at) : 0;
    if (end != 0)
        spanCell(table, cell, at, end, 0);
    return end;
}
/** A string; one that is not among the member's values is counted as drift. */
function stringCell(table, cell, at, member) {
    const end = textCell(table, cell, at);
    if (end != 0 && !(0, plan_1.isValue)(member, textAt, textLength))
        (0, state_1.addDrift)((0, plan_1.numberOf)(member));
    return end;
}
/** Of the text that was put into a cell last. */
let textAt = 0;
let textLength = 0;
function textCell(table, cell, at) {
    const end = (0, tokens_1.stringEnd)(at);
    if (end == 0)
        return 0;
    textAt = at + 1;
    textLength = (end - at) - 2;
    if (!tokens_1.isEscaped) {
        (0, rows_1.setCell)(table, cell, (textAt - state_1.answerAt), textLength, tokens_1.stringMarks);
        return end;
    }
    if (tokens_1.isOddlyEscaped)
        (0, tokens_1.setReprint)(true);
    if (!(0, made_1.hasRoom)(textLength))
        return 0;
    const start = (0, made_1.madeEnd)();
    const marks = (0, made_1.addUnescaped)(at + 1, end - 1) | tokens_1.stringMarks;
    textAt = start;
    textLength = ((0, made_1.madeEnd)() - start);
    (0, rows_1.setCell)(table, cell, (0, made_1.madeFrom)(start), textLength, marks);
    return end;
}
function spanCell(table, cell, at, end, marks) {
    (0, rows_1.setCell)(table, cell, (at - state_1.answerAt), (end - at), marks);
}
/** Longer texts of numbers are read the long way. */
const mostDigits = 32;
/** Numbers whose text is that of their cell: the longest that always fit have 18 digits in an int64, 19 in a u64, 15 in a double. */
function numberCell(table, cell, at, kind) {
    const end = (0, tokens_1.numberEnd)(at);
    if (end == 0)
        return 0;
    if (kind == 4 /* Kind.double */ && tokens_1.fractionEnd != 0) {
        spanCell(table, cell, at, tokens_1.fractionEnd, 0);
        return end;
    }
    const most = kind == 2 /* Kind.int64 */ ? 18 : kind == 3 /* Kind.decimal */ ? 19 : 15;
    const isPlain = tokens_1.digits > 0 && tokens_1.digits <= most && (kind != 3 /* Kind.decimal */ || (0, memory_1.byteAt)(at) != tokens_1.minus);
    if (!isPlain && (end - at > mostDigits || !(0, host_1.isCellText)(at, (end - at), kind)))
        return 0;
    spanCell(table, cell, at, end, 0);
    return end;
}
/** Of `reprint` and `separated`: what was raised before one value, so that they can say what this alone holds. */
function beginText() {
    const outer = (tokens_1.reprint ? 1 : 0) | (tokens_1.separated ? 2 : 0);
    (0, tokens_1.setReprint)(false);
    (0, tokens_1.setSeparated)(false);
    return outer;
}
function endText(outer) {
    if ((outer & 1) != 0)
        (0, tokens_1.setReprint)(true);
    if ((outer & 2) != 0)
        (0, tokens_1.setSeparated)(true);
}
function jsonValueCell(table, cell, at) {
    const outer = beginText();
    const end = (0, value_1.valueEnd)(at);
    if (end == 0 || !jsonCell(table, cell, at, end))
        return 0;
    endText(outer);
    return end;
}
/** Fills a json cell: with the bytes as they are where they are what JSON.stringify gives. False where there is no room. */
function jsonCell(table, cell, start, end) {
    const marks = tokens_1.separated ? exports.jsonMarks : 0;
    if (!tokens_1.reprint) {
        spanCell(table, cell, start, end, marks);
        return true;
    }
    if (!reprinted(start, end))
        return false;
    (0, rows_1.setCell)(table, cell, (0, made_1.madeFrom)(textAt), textLength, marks);
    return true;
}
/** Makes the text of a value in other words, at `textAt`. */
function reprinted(start, end) {
    if (!(0, made_1.hasRoom)(end - start))
        return false;
    textAt = (0, made_1.madeEnd)();
    (0, made_1.addReprinted)(start, end);
    textLength = ((0, made_1.madeEnd)() - textAt);
    return true;
}
/** The text of a value, in the words of JSON.stringify, at `printedAt`. Gives where the value ends. */
function printedEnd(at) {
    const outer = beginText();
    const end = (0, value_1.valueEnd)(at);
    if (end == 0)
        return 0;
    textAt = at;
    textLength = (end - at);
    if (tokens_1.reprint && !reprinted(at, end))
        return 0;
    endText(outer);
    return end;
}
function printedAt() {
    return textAt;
}
function printedLength() {
    return textLength;
}
/** The value of a trait as text, and its type in the cell behind it. */
function traitCell(table, cell, at) {
    const byte = (0, memory_1.byteAt)(at);
    if (byte == tokens_1.quote) {
        typeCell(table, cell, typeString);
        return textCell(table, cell, at);
    }
    if (byte == tokens_1.openBracket || byte == tokens_1.openBrace) {
        const end = printedEnd(at);
        if (end == 0 || !madeCell(table, cell))
            return 0;
        typeCell(table, cell, byte == tokens_1.openBracket ? typeArray : typeObject);
        return end;
    }
    const isBoolean = byte == tokens_1.lowerT || byte == tokens_1.lowerF;
    const end = isBoolean ? (0, tokens_1.literalEnd)(at) : (0, tokens_1.numberEnd)(at);
    if (end == 0)
        return 0;
    spanCell(table, cell, at, end, 0);
    typeCell(table, cell, isBoolean ? typeBoolean : typeNumber);
    return end;
}
/** Puts the printed text into a cell of strings. */
function madeCell(table, cell) {
    if (!(0, made_1.hasRoom)(textLength))
        return false;
    const start = (0, made_1.madeEnd)();
    (0, made_1.addBytes)(textAt, textLength);
    (0, rows_1.setCell)(table, cell, (0, made_1.madeFrom)(start), textLength, (0, made_1.textMarks)(start, (0, made_1.madeEnd)()));
    return true;
}
function typeCell(table, cell, type) {
    const start = load(typeStarts + type);
    const end = load(typeStarts + type + 1);
    (0, rows_1.setCell)(table, cell + 1, ~(state_1.typeOffset + start), end - start, 0);
}
/** The type of `null`, which has no text. */
function nullTrait(table, cell) {
    typeCell(table, cell, typeNull);
}
