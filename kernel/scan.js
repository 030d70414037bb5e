"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.scan = scan;
const slots_1 = require("../src/lib/kernel/slots");
const memory_1 = require("./memory");
const made_1 = require("./made");
const cells_1 = require("./cells");
const extra_1 = require("./extra");
const plan_1 = require("./plan");
const rows_1 = require("./rows");
const state_1 = require("./state");
const tokens_1 = require("./tokens");
/** `"error":` in an `extra`, and the group that is a column of `assets`. */
const errorName = memory.data([0x22, 0x65, 0x72, 0x72, 0x6f, 0x72, 0x22, 0x3a]);
const collection = memory.data([0x63, 0x6f, 0x6c, 0x6c, 0x65, 0x63, 0x74, 0x69, 0x6f, 0x6e]);
const collectionLength = 10;
const noObject = memory.data([0x7b, 0x7d]);
/** Whether any member of the object that was read last is in a column. */
let isTaken = false;
let hasCollection = false;
/** The first row that the record makes in each table. */
const firstRows = memory.data(32, 16);
/** Makes rows of the records of an array, until one is refused or has no room. Nothing is left of that one. */
function scan() {
    (0, state_1.beginState)();
    (0, memory_1.allowReads)(state_1.answerAt, (0, memory_1.addressSlot)(slots_1.answerEndSlot) + slots_1.paddingBytes);
    (0, made_1.beginMade)((0, memory_1.addressSlot)(slots_1.madeSlot), (0, memory_1.slot)(slots_1.madeBytesSlot), (0, memory_1.slot)(slots_1.madeBeforeSlot));
    (0, extra_1.placeExtra)(extra_1.recordExtra, (0, memory_1.addressSlot)(slots_1.recordExtraSlot), (0, memory_1.slot)(slots_1.extraBytesSlot));
    (0, extra_1.placeExtra)(extra_1.elementExtra, (0, memory_1.addressSlot)(slots_1.elementExtraSlot), (0, memory_1.slot)(slots_1.extraBytesSlot));
    for (let index = 0; index < slots_1.tableCount; index += 1)
        (0, rows_1.cutRows)((0, rows_1.table)(index), 0);
    const most = (0, memory_1.slot)(slots_1.mostRecordsSlot);
    const room = (0, memory_1.slot)(slots_1.boundsCapacitySlot);
    let at = (0, memory_1.addressSlot)(slots_1.scanSlot);
    let records = 0;
    let outcome = slots_1.scanDone;
    while (records < most) {
        const end = records < room ? oneRecord(at, records) : 0;
        if (end == 0) {
            outcome = made_1.isFull || records == room ? slots_1.scanFull : slots_1.scanRefused;
            break;
        }
        records += 1;
        (0, memory_1.setSlot)(slots_1.recordEndSlot, end);
        at = (0, tokens_1.next)(end);
        if ((0, memory_1.byteAt)(at) != tokens_1.comma)
            break;
        at = (0, tokens_1.next)(at + 1);
    }
    (0, memory_1.setSlot)(slots_1.recordCountSlot, records);
    (0, memory_1.setSlot)(slots_1.stoppedSlot, at);
    (0, memory_1.setSlot)(slots_1.madeEndSlot, (0, made_1.madeEnd)());
    (0, memory_1.setSlot)(slots_1.driftCountSlot, state_1.drifts);
    return outcome;
}
/** Reads a record, or leaves nothing of it behind. */
function oneRecord(at, number) {
    const made = (0, made_1.madeEnd)();
    const drifted = state_1.drifts;
    for (let index = 0; index < slots_1.tableCount; index += 1)
        store(firstRows + (index << 2), (0, rows_1.rowsOf)((0, rows_1.table)(index)));
    (0, made_1.setFull)(false);
    (0, tokens_1.setReprint)(false);
    const end = recordEnd(at);
    if (end != 0 && (0, state_1.hasDriftRoom)()) {
        close(number, at, end);
        return end;
    }
    if (end != 0)
        (0, made_1.setFull)(true);
    for (let index = 0; index < slots_1.tableCount; index += 1)
        (0, rows_1.cutRows)((0, rows_1.table)(index), load(firstRows + (index << 2)));
    (0, made_1.cutMade)(made);
    (0, state_1.cutDrifts)(drifted);
    return 0;
}
/** The numbers that are kept of a record, as `bound` of `src/core/records/scan/record-bounds.ts` has them. */
function close(number, start, end) {
    const width = 3 + slots_1.tableCount;
    const bounds = (0, memory_1.addressSlot)(slots_1.boundsSlot) + ((number * width) << 2);
    store(bounds, (start - state_1.answerAt));
    store(bounds + 4, (end - state_1.answerAt));
    store(bounds + 8, tokens_1.reprint ? 1 : 0);
    store(bounds + 12, state_1.drifts + (0, memory_1.slot)(slots_1.driftsBeforeSlot));
    for (let index = 1; index < slots_1.tableCount; index += 1)
        store(bounds + 12 + (index << 2), (0, rows_1.allRowsOf)((0, rows_1.table)(index)));
}
function recordEnd(at) {
    const assets = (0, rows_1.table)(0);
    if ((0, memory_1.byteAt)(at) != tokens_1.openBrace || !(0, rows_1.addRow)(assets))
        return 0;
    (0, extra_1.beginExtra)(extra_1.recordExtra);
    hasCollection = false;
    const end = objectEnd((0, memory_1.addressSlot)(slots_1.rootSlot), assets, extra_1.recordExtra, at);
    if (end == 0)
        return 0;
    const id = (0, rows_1.cellOf)(assets, (0, memory_1.slot)(slots_1.idColumnSlot));
    if ((0, rows_1.lengthOf)(assets, id) < 0)
        return 0;
    (0, extra_1.endExtra)(extra_1.recordExtra);
    // Perhaps an error in place of a record.
    if ((0, rows_1.lengthOf)(assets, (0, rows_1.cellOf)(assets, (0, memory_1.slot)(slots_1.interfaceColumnSlot))) < 0 && namesError())
        return 0;
    if ((0, extra_1.extraLength)(extra_1.recordExtra) > 0 && !extraCell(assets, (0, memory_1.slot)(slots_1.extraColumnSlot), extra_1.recordExtra))
        return 0;
    // The id may come behind a list.
    for (let index = 1; index < slots_1.tableCount; index += 1)
        giveId((0, rows_1.table)(index), load(firstRows + (index << 2)), id);
    return end;
}
function namesError() {
    const start = (0, extra_1.extraAt)(extra_1.recordExtra);
    for (let at = start; at + 8 <= start + (0, extra_1.extraLength)(extra_1.recordExtra); at += 1)
        if (load(at) == load(errorName))
            return true;
    return false;
}
/** Copies an `extra` that is whole into a cell. */
function extraCell(rows, column, extra) {
    const length = (0, extra_1.extraLength)(extra);
    if (!(0, made_1.hasRoom)(length))
        return false;
    const start = (0, made_1.madeEnd)();
    (0, made_1.addBytes)((0, extra_1.extraAt)(extra), length);
    (0, rows_1.setCell)(rows, (0, rows_1.cellOf)(rows, column), (0, made_1.madeFrom)(start), length, cells_1.jsonMarks);
    return true;
}
function giveId(rows, first, id) {
    const end = (0, rows_1.rowsOf)(rows);
    for (let row = first; row < end; row += 1)
        (0, rows_1.copyCell)(rows, (0, rows_1.firstCell)(rows, row), (0, rows_1.table)(0), id);
}
function objectEnd(object, rows, extra, start) {
    const count = (0, plan_1.countObject)(object);
    let taken = false;
    let at = (0, tokens_1.next)(start + 1);
    if ((0, memory_1.byteAt)(at) == tokens_1.closeBrace) {
        isTaken = false;
        return at + 1;
    }
    let previous = object;
    for (;;) {
        const member = (0, plan_1.memberAt)(object, previous, at);
        if (member == 0 || !(0, plan_1.meet)(member, count))
            return 0;
        (0, tokens_1.setSeparated)(true);
        previous = member;
        at = memberEnd(member, rows, extra, (0, tokens_1.next)(plan_1.nameEnd));
        if (at == 0)
            return 0;
        if (isTaken)
            taken = true;
        at = (0, tokens_1.next)(at);
        const byte = (0, memory_1.byteAt)(at);
        if (byte == tokens_1.closeBrace)
            break;
        if (byte != tokens_1.comma)
            return 0;
        at = (0, tokens_1.next)(at + 1);
    }
    isTaken = taken;
    return at + 1;
}
/** Takes the value of a member. */
function memberEnd(member, rows, extra, at) {
    const kind = (0, plan_1.memberKindOf)(member);
    const cell = (0, rows_1.cellOf)(rows, (0, plan_1.columnOf)(member));
    if ((0, memory_1.byteAt)(at) == tokens_1.lowerN) {
        if (kind == 6 /* Kind.trait */)
            (0, cells_1.nullTrait)(rows, cell);
        isTaken = false;
        return (0, tokens_1.literalEnd)(at);
    }
    isTaken = true;
    switch (kind) {
        case 0 /* Kind.string */:
            return (0, cells_1.stringCell)(rows, cell, at, member);
        case 1 /* Kind.boolean */:
            return (0, cells_1.booleanCell)(rows, cell, at);
        case 2 /* Kind.int64 */:
        case 3 /* Kind.decimal */:
        case 4 /* Kind.double */:
            return (0, cells_1.numberCell)(rows, cell, at, kind);
        case 5 /* Kind.json */:
            return (0, cells_1.jsonValueCell)(rows, cell, at);
        case 6 /* Kind.trait */:
            return (0, cells_1.traitCell)(rows, cell, at);
        case 7 /* Kind.list */:
            return (0, memory_1.byteAt)(at) == tokens_1.openBracket ? listEnd((0, plan_1.innerOf)(member), rows, cell, at) : 0;
        case 8 /* Kind.branch */:
            return (0, memory_1.byteAt)(at) == tokens_1.openBrace ? branchEnd(member, rows, extra, at) : 0;
        case 9 /* Kind.implied */:
            return (0, tokens_1.stringEnd)(at);
        case 10 /* Kind.unknown */:
            return unknownEnd(member, extra, at);
        default:
            return 0;
    }
}
function unknownEnd(member, extra, at) {
    (0, state_1.addDrift)((0, plan_1.numberOf)(member));
    const made = (0, made_1.madeEnd)();
    const end = (0, cells_1.printedEnd)(at);
    if (end == 0 || !(0, extra_1.addExtra)(extra, member, (0, cells_1.printedAt)(), (0, cells_1.printedLength)()))
        return 0;
    (0, made_1.cutMade)(made);
    isTaken = false;
    return end;
}
function branchEnd(member, rows, extra, at) {
    if (!(0, extra_1.enterExtra)(extra, member))
        return 0;
    const end = objectEnd((0, plan_1.innerOf)(member), rows, extra, at);
    if (end == 0)
        return 0;
    const isLeft = (0, extra_1.leaveExtra)(extra);
    // An object that leaves no trace in the columns is kept as such.
    if (!isTaken && !isLeft && !(0, extra_1.addExtra)(extra, member, noObject, 2))
        return 0;
    isTaken = isTaken && !isLeft;
    return end;
}
function listEnd(list, rows, cell, start) {
    const outer = (0, cells_1.beginText)();
    let at = (0, tokens_1.next)(start + 1);
    for (let position = 0; (0, memory_1.byteAt)(at) != tokens_1.closeBracket; position += 1) {
        if ((0, memory_1.byteAt)(at) != tokens_1.openBrace)
            return 0;
        at = groupEnd(list, position, at);
        if (at == 0)
            return 0;
        at = (0, tokens_1.next)(at);
        const byte = (0, memory_1.byteAt)(at);
        if (byte == tokens_1.comma) {
            (0, tokens_1.setSeparated)(true);
            at = (0, tokens_1.next)(at + 1);
            if ((0, memory_1.byteAt)(at) == tokens_1.closeBracket)
                return 0;
        }
        else if (byte != tokens_1.closeBracket)
            return 0;
    }
    if (!(0, cells_1.jsonCell)(rows, cell, start, at + 1))
        return 0;
    (0, cells_1.endText)(outer);
    isTaken = true;
    return at + 1;
}
/** An element, which may be one of the groups: of these the first collection is a column of `assets`, and each a row of `collections`. */
function groupEnd(list, position, at) {
    const end = elementEnd(list, position, at);
    if (end == 0 || (0, plan_1.groupKeyColumn)(list) < 0)
        return end;
    const rows = (0, rows_1.table)((0, plan_1.tableOf)(list));
    const key = (0, rows_1.cellOf)(rows, (0, plan_1.groupKeyColumn)(list));
    if ((0, rows_1.lengthOf)(rows, key) != collectionLength || !(0, made_1.holds)(textAddress((0, rows_1.fromOf)(rows, key)), collection, collectionLength))
        return end;
    if (!hasCollection) {
        hasCollection = true;
        (0, rows_1.copyCell)((0, rows_1.table)(0), (0, rows_1.cellOf)((0, rows_1.table)(0), (0, memory_1.slot)(slots_1.collectionColumnSlot)), rows, (0, rows_1.cellOf)(rows, (0, plan_1.groupValueColumn)(list)));
    }
    if ((0, plan_1.collectionsOf)(list) == 0)
        return end;
    // Unknown fields are counted when the element is read as a group.
    const counted = state_1.drifts;
    const again = elementEnd((0, plan_1.collectionsOf)(list), position, at);
    (0, state_1.cutDrifts)(counted);
    return again;
}
function textAddress(from) {
    return from < 0 ? (0, made_1.madeAddress)(from) : state_1.answerAt + from;
}
function elementEnd(list, position, at) {
    const rows = (0, rows_1.table)((0, plan_1.tableOf)(list));
    if (!(0, rows_1.addRow)(rows))
        return 0;
    if (!positionCell(rows, (0, plan_1.positionColumn)(list), position))
        return 0;
    (0, extra_1.beginExtra)(extra_1.elementExtra);
    const end = objectEnd((0, plan_1.elementOf)(list), rows, extra_1.elementExtra, at);
    if (end == 0)
        return 0;
    (0, extra_1.endExtra)(extra_1.elementExtra);
    if ((0, extra_1.extraLength)(extra_1.elementExtra) > 0)
        return extraCell(rows, (0, plan_1.extraColumn)(list), extra_1.elementExtra) ? end : 0;
    if (isTaken)
        return end;
    if (!(0, made_1.hasRoom)(2))
        return 0;
    const start = (0, made_1.madeEnd)();
    (0, made_1.addBytes)(noObject, 2);
    (0, rows_1.setCell)(rows, (0, rows_1.cellOf)(rows, (0, plan_1.extraColumn)(list)), (0, made_1.madeFrom)(start), 2, 0);
    return end;
}
/** Positions below 100 are constants of two bytes each. */
function positionCell(rows, column, position) {
    if (position < 100) {
        (0, rows_1.setCell)(rows, (0, rows_1.cellOf)(rows, column), ~(position * 2), position < 10 ? 1 : 2, 0);
        return true;
    }
    if (!(0, made_1.hasRoom)(16))
        return false;
    const start = (0, made_1.madeEnd)();
    (0, made_1.addNumber)(position);
    (0, rows_1.setCell)(rows, (0, rows_1.cellOf)(rows, column), (0, made_1.madeFrom)(start), ((0, made_1.madeEnd)() - start), 0);
    return true;
}
