"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.nameEnd = void 0;
exports.memberKindOf = memberKindOf;
exports.columnOf = columnOf;
exports.innerOf = innerOf;
exports.numberOf = numberOf;
exports.memberKey = memberKey;
exports.memberKeyLength = memberKeyLength;
exports.countObject = countObject;
exports.meet = meet;
exports.memberAt = memberAt;
exports.isValue = isValue;
exports.tableOf = tableOf;
exports.elementOf = elementOf;
exports.positionColumn = positionColumn;
exports.extraColumn = extraColumn;
exports.groupKeyColumn = groupKeyColumn;
exports.groupValueColumn = groupValueColumn;
exports.collectionsOf = collectionsOf;
const memory_1 = require("./memory");
const tokens_1 = require("./tokens");
/**
 * The plan of a record as data: `src/core/records/scan/plan-image.ts` writes it, README.md draws it. It holds addresses. Objects and members begin with what came
 * behind them the last time (`followNext`), and the last time that it was another (`followOther`).
 */
const followNext = 0;
const followOther = 4;
// An object.
const objectMembers = 8;
const objectCount = 12;
// A member. The bytes of its key (`"name":`) are padded with zeros to whole blocks; as many bytes of mask follow.
const memberBehind = 8;
const memberSeen = 12;
const memberKind = 16;
const memberColumn = 20;
const memberInner = 24;
const memberValues = 28;
const memberNumber = 32;
const memberLength = 36;
const memberBlocks = 40;
const memberBytes = 48;
function memberKindOf(member) {
    return load(member, memberKind);
}
/** Its column's place in the row. */
function columnOf(member) {
    return load(member, memberColumn);
}
/** The object of a branch, or the list. */
function innerOf(member) {
    return load(member, memberInner);
}
/** Its number among all members: of what is counted when it differs from the specification. */
function numberOf(member) {
    return load(member, memberNumber);
}
function memberKey(member) {
    return member + memberBytes;
}
function memberKeyLength(member) {
    return load(member, memberLength);
}
/** Counts an object that begins, and gives its number. */
function countObject(object) {
    const count = load(object, objectCount) + 1;
    store(object, count, objectCount);
    return count;
}
/** Marks a member as met in the object of that number. False when it was met there before. */
function meet(member, count) {
    if (load(member, memberSeen) == count)
        return false;
    store(member, count, memberSeen);
    return true;
}
/** Behind the name that was found last, and its colon. */
exports.nameEnd = 0;
/** The member whose name comes next; 0 for one that the plan does not hold. */
function memberAt(object, previous, at) {
    const expected = load(previous, followNext);
    if (expected != 0 && isKey(expected, at))
        return expected;
    const other = load(previous, followOther);
    const member = other != 0 && isKey(other, at) ? other : search(object, at);
    if (member != 0) {
        store(previous, expected, followOther);
        store(previous, member, followNext);
    }
    return member;
}
/** Whether the bytes of a key come next: a block at a time, of which the mask says what counts. */
function isKey(member, at) {
    const bytes = load(member, memberBlocks);
    const key = member + memberBytes;
    for (let done = 0; done < bytes; done += 16) {
        const differs = v128.xor((0, memory_1.blockAt)(at + done), v128.load(key + done));
        if (v128.any_true(v128.and(differs, v128.load(key + bytes + done))))
            return false;
    }
    exports.nameEnd = at + load(member, memberLength);
    return true;
}
function search(object, at) {
    const end = (0, tokens_1.stringEnd)(at);
    if (end == 0 || tokens_1.isEscaped)
        return 0;
    const length = (end - at);
    for (let member = load(object, objectMembers); member != 0;) {
        // A key has a colon more.
        if (load(member, memberLength) == length + 1 && memory.compare(member + memberBytes, at, length) == 0) {
            const behind = (0, tokens_1.next)(end);
            exports.nameEnd = behind + 1;
            return (0, memory_1.byteAt)(behind) == tokens_1.colon ? member : 0;
        }
        member = load(member, memberBehind);
    }
    return 0;
}
/** Whether a text is one of a member's values, or it has none: a list of a length and the padded bytes each, that ends with -1. */
function isValue(member, text, length) {
    let entry = load(member, memberValues);
    if (entry == 0)
        return true;
    for (let bytes = load(entry); bytes >= 0; bytes = load(entry)) {
        if (bytes == length && memory.compare(entry + 4, text, length) == 0)
            return true;
        entry += 4 + ((bytes + 3) & ~3);
    }
    return false;
}
// A list, by offset.
const listTable = 0;
const listElement = 4;
const listPosition = 8;
const listExtra = 12;
const listGroupKey = 16;
const listGroupValue = 20;
const listCollections = 24;
/** The number of the table whose rows its elements are. */
function tableOf(list) {
    return load(list, listTable);
}
function elementOf(list) {
    return load(list, listElement);
}
function positionColumn(list) {
    return load(list, listPosition);
}
function extraColumn(list) {
    return load(list, listExtra);
}
/** -1 where the elements are no groups. */
function groupKeyColumn(list) {
    return load(list, listGroupKey);
}
function groupValueColumn(list) {
    return load(list, listGroupValue);
}
/** The same elements as rows of `collections`; 0 where those are not wanted. */
function collectionsOf(list) {
    return load(list, listCollections);
}
