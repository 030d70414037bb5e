"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.elementExtra = exports.recordExtra = void 0;
exports.placeExtra = placeExtra;
exports.beginExtra = beginExtra;
exports.enterExtra = enterExtra;
exports.leaveExtra = leaveExtra;
exports.addExtra = addExtra;
exports.extraAt = extraAt;
exports.extraLength = extraLength;
exports.endExtra = endExtra;
const memory_1 = require("./memory");
const made_1 = require("./made");
const tokens_1 = require("./tokens");
const plan_1 = require("./plan");
/**
 * The text of an `extra` cell in the making: members without a column, within the objects that they stood in. There are two, 64 bytes each in the header's style:
 * that of the record, and that of the element of a list. Lists do not nest.
 */
exports.recordExtra = memory.data(64, 16);
exports.elementExtra = memory.data(64, 16);
// Slots of an extra, by offset. Names are members of the plan, from the outside in.
const startAt = 0;
const endAt = 4;
const lastAt = 8;
const depthAt = 12;
const openedAt = 16;
const followsAt = 20;
const namesAt = 24;
/** Branches within branches: a plan has two. */
const mostDepth = 8;
function placeExtra(extra, at, bytes) {
    store(extra + startAt, at);
    store(extra + lastAt, at + bytes);
}
function beginExtra(extra) {
    store(extra + endAt, load(extra + startAt));
    store(extra + depthAt, 0);
    store(extra + openedAt, 0);
    store(extra + followsAt, 0);
}
/** An object begins that is this member. False for one too deep. */
function enterExtra(extra, member) {
    const depth = load(extra + depthAt);
    if (depth == mostDepth)
        return false;
    store(extra + namesAt + (depth << 2), member);
    store(extra + depthAt, depth + 1);
    return true;
}
/** The object ends; true when something of it was kept. */
function leaveExtra(extra) {
    const depth = load(extra + depthAt);
    const isOpened = load(extra + openedAt) == depth;
    store(extra + depthAt, depth - 1);
    if (isOpened) {
        store(extra + openedAt, depth - 1);
        putByte(extra, tokens_1.closeBrace);
        store(extra + followsAt, 1);
    }
    return isOpened;
}
/** Keeps a member of the innermost object. False, and `isFull` is set, where there is no room. */
function addExtra(extra, member, text, length) {
    if (!hasExtraRoom(extra, member, length)) {
        (0, made_1.setFull)(true);
        return false;
    }
    openExtra(extra);
    putKey(extra, member);
    store(extra + followsAt, 1);
    const end = load(extra + endAt);
    (0, memory_1.copy)(end, text, length);
    store(extra + endAt, end + length);
    return true;
}
/** Room for the value, its key, those of the objects that it opens, and later their closing braces. */
function hasExtraRoom(extra, member, length) {
    let bytes = length + (0, plan_1.memberKeyLength)(member) + 64;
    const depth = load(extra + depthAt);
    for (let index = load(extra + openedAt); index < depth; index += 1)
        bytes += (0, plan_1.memberKeyLength)(nameOf(extra, index)) + 4;
    return load(extra + endAt) + bytes <= load(extra + lastAt);
}
function openExtra(extra) {
    if (extraLength(extra) == 0)
        putByte(extra, tokens_1.openBrace);
    const depth = load(extra + depthAt);
    for (let index = load(extra + openedAt); index < depth; index += 1) {
        putKey(extra, nameOf(extra, index));
        putByte(extra, tokens_1.openBrace);
        store(extra + followsAt, 0);
    }
    store(extra + openedAt, depth);
}
function nameOf(extra, index) {
    return load(extra + namesAt + (index << 2));
}
function putKey(extra, member) {
    if (load(extra + followsAt) != 0)
        putByte(extra, tokens_1.comma);
    const end = load(extra + endAt);
    const length = (0, plan_1.memberKeyLength)(member);
    (0, memory_1.copy)(end, (0, plan_1.memberKey)(member), length);
    store(extra + endAt, end + length);
}
function putByte(extra, byte) {
    const end = load(extra + endAt);
    store(end, byte);
    store(extra + endAt, end + 1);
}
function extraAt(extra) {
    return load(extra + startAt);
}
function extraLength(extra) {
    return (load(extra + endAt) - load(extra + startAt));
}
/** Ends the text; where it is empty it stays so. */
function endExtra(extra) {
    if (extraLength(extra) > 0)
        putByte(extra, tokens_1.closeBrace);
}
