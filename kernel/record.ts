import {
  collectionColumnSlot,
  extraColumnSlot,
  idColumnSlot,
  interfaceColumnSlot,
  rootSlot,
  tableCount,
} from '../src/lib/kernel/slots';
import { addressSlot, byteAt, slot } from './memory';
import { addNumber, addBytes, cutMade, hasRoom, holds, madeAddress, madeEnd, madeFrom } from './made';
import {
  beginText,
  booleanCell,
  endText,
  jsonCell,
  jsonMarks,
  jsonValueCell,
  nullTrait,
  numberCell,
  printedAt,
  printedEnd,
  printedLength,
  stringCell,
  traitCell,
} from './cells';
import {
  addExtra,
  beginExtra,
  elementExtra,
  endExtra,
  enterExtra,
  extraAt,
  extraLength,
  leaveExtra,
  recordExtra,
} from './extra';
import {
  collectionsOf,
  columnOf,
  countObject,
  elementOf,
  extraColumn,
  groupKeyColumn,
  groupValueColumn,
  innerOf,
  Kind,
  meet,
  memberAt,
  memberKindOf,
  nameEnd,
  numberOf,
  positionColumn,
  tableOf,
} from './plan';
import { addRow, cellOf, copyCell, firstCell, fromOf, lengthOf, rowsOf, setCell, table } from './rows';
import { addDrift, answerAt, cutDrifts, drifts } from './state';
import {
  closeBrace,
  closeBracket,
  comma,
  literalEnd,
  lowerN,
  next,
  openBrace,
  openBracket,
  setSeparated,
  stringEnd,
} from './tokens';

/** `"error":` in an `extra`, and the group that is a column of `assets`. */
const errorName: usize = memory.data<u8>([0x22, 0x65, 0x72, 0x72, 0x6f, 0x72, 0x22, 0x3a]);
const collection: usize = memory.data<u8>([0x63, 0x6f, 0x6c, 0x6c, 0x65, 0x63, 0x74, 0x69, 0x6f, 0x6e]);
const collectionLength: i32 = 10;
const noObject: usize = memory.data<u8>([0x7b, 0x7d]);

/** Whether any member of the object that was read last is in a column. */
let isTaken: bool = false;
let hasCollection: bool = false;
/** The first row that the record makes in each table. */
const firstRows: usize = memory.data(32, 16);

export function markFirstRows(): void {
  for (let index = 0; index < tableCount; index += 1) store<i32>(firstRows + (index << 2), rowsOf(table(index)));
}

export function firstRow(index: i32): i32 {
  return load<i32>(firstRows + (index << 2));
}

/** Makes the rows of a record, and gives where it ends; 0 when it is refused or has no room, and half of its rows are made. */
export function recordEnd(at: usize): usize {
  const assets = table(0);
  if (byteAt(at) != openBrace || !addRow(assets)) return 0;
  beginExtra(recordExtra);
  hasCollection = false;
  const end = objectEnd(addressSlot(rootSlot), assets, recordExtra, at);
  if (end == 0) return 0;
  const id = cellOf(assets, slot(idColumnSlot));
  if (lengthOf(assets, id) < 0) return 0;
  endExtra(recordExtra);
  // Perhaps an error in place of a record.
  if (lengthOf(assets, cellOf(assets, slot(interfaceColumnSlot))) < 0 && namesError()) return 0;
  if (extraLength(recordExtra) > 0 && !extraCell(assets, slot(extraColumnSlot), recordExtra)) return 0;
  // The id may come behind a list.
  for (let index = 1; index < tableCount; index += 1) giveId(table(index), firstRow(index), id);
  return end;
}

function namesError(): bool {
  const start = extraAt(recordExtra);
  for (let at = start; at + 8 <= start + extraLength(recordExtra); at += 1)
    if (load<u64>(at) == load<u64>(errorName)) return true;
  return false;
}

/** Copies an `extra` that is whole into a cell. */
function extraCell(rows: usize, column: i32, extra: usize): bool {
  const length = extraLength(extra);
  if (!hasRoom(<usize>length)) return false;
  const start = madeEnd();
  addBytes(extraAt(extra), length);
  setCell(rows, cellOf(rows, column), madeFrom(start), length, jsonMarks);
  return true;
}

function giveId(rows: usize, first: i32, id: i32): void {
  const end = rowsOf(rows);
  for (let row = first; row < end; row += 1) copyCell(rows, firstCell(rows, row), table(0), id);
}

function objectEnd(object: usize, rows: usize, extra: usize, start: usize): usize {
  const count = countObject(object);
  let taken = false;
  let at = next(start + 1);
  if (byteAt(at) == closeBrace) {
    isTaken = false;
    return at + 1;
  }
  let previous = object;
  for (;;) {
    const member = memberAt(object, previous, at);
    if (member == 0 || !meet(member, count)) return 0;
    setSeparated(true);
    previous = member;
    at = memberEnd(member, rows, extra, next(nameEnd));
    if (at == 0) return 0;
    if (isTaken) taken = true;
    at = next(at);
    const byte = byteAt(at);
    if (byte == closeBrace) break;
    if (byte != comma) return 0;
    at = next(at + 1);
  }
  isTaken = taken;
  return at + 1;
}

/** Takes the value of a member. */
function memberEnd(member: usize, rows: usize, extra: usize, at: usize): usize {
  const kind = memberKindOf(member);
  const cell = cellOf(rows, columnOf(member));
  if (byteAt(at) == lowerN) {
    if (kind == Kind.trait) nullTrait(rows, cell);
    isTaken = false;
    return literalEnd(at);
  }
  isTaken = true;
  switch (kind) {
    case Kind.string:
      return stringCell(rows, cell, at, member);
    case Kind.boolean:
      return booleanCell(rows, cell, at);
    case Kind.int64:
    case Kind.decimal:
    case Kind.double:
      return numberCell(rows, cell, at, kind);
    case Kind.json:
      return jsonValueCell(rows, cell, at);
    case Kind.trait:
      return traitCell(rows, cell, at);
    case Kind.list:
      return byteAt(at) == openBracket ? listEnd(innerOf(member), rows, cell, at) : 0;
    case Kind.branch:
      return byteAt(at) == openBrace ? branchEnd(member, rows, extra, at) : 0;
    case Kind.implied:
      return stringEnd(at);
    case Kind.unknown:
      return unknownEnd(member, extra, at);
    default:
      return 0;
  }
}

function unknownEnd(member: usize, extra: usize, at: usize): usize {
  addDrift(numberOf(member));
  const made = madeEnd();
  const end = printedEnd(at);
  if (end == 0 || !addExtra(extra, member, printedAt(), printedLength())) return 0;
  cutMade(made);
  isTaken = false;
  return end;
}

function branchEnd(member: usize, rows: usize, extra: usize, at: usize): usize {
  if (!enterExtra(extra, member)) return 0;
  const end = objectEnd(innerOf(member), rows, extra, at);
  if (end == 0) return 0;
  const isLeft = leaveExtra(extra);
  // An object that leaves no trace in the columns is kept as such.
  if (!isTaken && !isLeft && !addExtra(extra, member, noObject, 2)) return 0;
  isTaken = isTaken && !isLeft;
  return end;
}

function listEnd(list: usize, rows: usize, cell: i32, start: usize): usize {
  const outer = beginText();
  let at = next(start + 1);
  for (let position = 0; byteAt(at) != closeBracket; position += 1) {
    if (byteAt(at) != openBrace) return 0;
    at = groupEnd(list, position, at);
    if (at == 0) return 0;
    at = next(at);
    const byte = byteAt(at);
    if (byte == comma) {
      setSeparated(true);
      at = next(at + 1);
      if (byteAt(at) == closeBracket) return 0;
    } else if (byte != closeBracket) return 0;
  }
  if (!jsonCell(rows, cell, start, at + 1)) return 0;
  endText(outer);
  isTaken = true;
  return at + 1;
}

/** An element, which may be one of the groups: of these the first collection is a column of `assets`, and each a row of `collections`. */
function groupEnd(list: usize, position: i32, at: usize): usize {
  const end = elementEnd(list, position, at);
  if (end == 0 || groupKeyColumn(list) < 0) return end;
  const rows = table(tableOf(list));
  const key = cellOf(rows, groupKeyColumn(list));
  if (lengthOf(rows, key) != collectionLength || !holds(textAddress(fromOf(rows, key)), collection, collectionLength))
    return end;
  if (!hasCollection) {
    hasCollection = true;
    copyCell(table(0), cellOf(table(0), slot(collectionColumnSlot)), rows, cellOf(rows, groupValueColumn(list)));
  }
  if (collectionsOf(list) == 0) return end;
  // Unknown fields are counted when the element is read as a group.
  const counted = drifts;
  const again = elementEnd(collectionsOf(list), position, at);
  cutDrifts(counted);
  return again;
}

function textAddress(from: i32): usize {
  return from < 0 ? madeAddress(from) : answerAt + from;
}

function elementEnd(list: usize, position: i32, at: usize): usize {
  const rows = table(tableOf(list));
  if (!addRow(rows)) return 0;
  if (!positionCell(rows, positionColumn(list), position)) return 0;
  beginExtra(elementExtra);
  const end = objectEnd(elementOf(list), rows, elementExtra, at);
  if (end == 0) return 0;
  endExtra(elementExtra);
  if (extraLength(elementExtra) > 0) return extraCell(rows, extraColumn(list), elementExtra) ? end : 0;
  if (isTaken) return end;
  if (!hasRoom(2)) return 0;
  const start = madeEnd();
  addBytes(noObject, 2);
  setCell(rows, cellOf(rows, extraColumn(list)), madeFrom(start), 2, 0);
  return end;
}

/** Positions below 100 are constants of two bytes each. */
function positionCell(rows: usize, column: i32, position: i32): bool {
  if (position < 100) {
    setCell(rows, cellOf(rows, column), ~(position * 2), position < 10 ? 1 : 2, 0);
    return true;
  }
  if (!hasRoom(16)) return false;
  const start = madeEnd();
  addNumber(position);
  setCell(rows, cellOf(rows, column), madeFrom(start), <i32>(madeEnd() - start), 0);
  return true;
}
