import { blockAt, byteAt } from './memory';
import { colon, isEscaped, next, stringEnd } from './tokens';

/**
 * The plan of a record as data: `src/core/records/scan/kernel-scan.ts` writes it, README.md draws it. It holds addresses. Objects and members begin with what came
 * behind them the last time (`followNext`), and the last time that it was another (`followOther`).
 */
const followNext: usize = 0;
const followOther: usize = 4;

// An object.
const objectMembers: usize = 8;
const objectCount: usize = 12;

// A member. The bytes of its key (`"name":`) are padded with zeros to whole blocks; as many bytes of mask follow.
const memberBehind: usize = 8;
const memberSeen: usize = 12;
const memberKind: usize = 16;
const memberColumn: usize = 20;
const memberInner: usize = 24;
const memberValues: usize = 28;
const memberNumber: usize = 32;
const memberLength: usize = 36;
const memberBlocks: usize = 40;
const memberBytes: usize = 48;

/** Kinds of members, as `memberKinds` of `src/core/records/scan/record-plan.ts` has them. */
export const enum Kind {
  string,
  boolean,
  int64,
  decimal,
  double,
  json,
  trait,
  list,
  branch,
  implied,
  unknown,
}

export function memberKindOf(member: usize): i32 {
  return load<i32>(member, memberKind);
}

/** Its column's place in the row. */
export function columnOf(member: usize): i32 {
  return load<i32>(member, memberColumn);
}

/** The object of a branch, or the list. */
export function innerOf(member: usize): usize {
  return <usize>load<u32>(member, memberInner);
}

/** Its number among all members: of what is counted when it differs from the specification. */
export function numberOf(member: usize): i32 {
  return load<i32>(member, memberNumber);
}

export function memberKey(member: usize): usize {
  return member + memberBytes;
}

export function memberKeyLength(member: usize): i32 {
  return load<i32>(member, memberLength);
}

/** Counts an object that begins, and gives its number. */
export function countObject(object: usize): i32 {
  const count = load<i32>(object, objectCount) + 1;
  store<i32>(object, count, objectCount);
  return count;
}

/** Marks a member as met in the object of that number. False when it was met there before. */
export function meet(member: usize, count: i32): bool {
  if (load<i32>(member, memberSeen) == count) return false;
  store<i32>(member, count, memberSeen);
  return true;
}

/** Behind the name that was found last, and its colon. */
export let nameEnd: usize = 0;

/** The member whose name comes next; 0 for one that the plan does not hold. */
export function memberAt(object: usize, previous: usize, at: usize): usize {
  const expected = <usize>load<u32>(previous, followNext);
  if (expected != 0 && isKey(expected, at)) return expected;
  const other = <usize>load<u32>(previous, followOther);
  const member = other != 0 && isKey(other, at) ? other : search(object, at);
  if (member != 0) {
    store<u32>(previous, <u32>expected, followOther);
    store<u32>(previous, <u32>member, followNext);
  }
  return member;
}

/** Whether the bytes of a key come next: a block at a time, of which the mask says what counts. */
function isKey(member: usize, at: usize): bool {
  const bytes = <usize>load<u32>(member, memberBlocks);
  const key = member + memberBytes;
  for (let done: usize = 0; done < bytes; done += 16) {
    const differs = v128.xor(blockAt(at + done), v128.load(key + done));
    if (v128.any_true(v128.and(differs, v128.load(key + bytes + done)))) return false;
  }
  nameEnd = at + load<u32>(member, memberLength);
  return true;
}

function search(object: usize, at: usize): usize {
  const end = stringEnd(at);
  if (end == 0 || isEscaped) return 0;
  const length = <i32>(end - at);
  for (let member = <usize>load<u32>(object, objectMembers); member != 0; ) {
    // A key has a colon more.
    if (load<i32>(member, memberLength) == length + 1 && memory.compare(member + memberBytes, at, <usize>length) == 0) {
      const behind = next(end);
      nameEnd = behind + 1;
      return byteAt(behind) == colon ? member : 0;
    }
    member = <usize>load<u32>(member, memberBehind);
  }
  return 0;
}

/** Whether a text is one of a member's values, or it has none: a list of a length and the padded bytes each, that ends with -1. */
export function isValue(member: usize, text: usize, length: i32): bool {
  let entry = <usize>load<u32>(member, memberValues);
  if (entry == 0) return true;
  for (let bytes = load<i32>(entry); bytes >= 0; bytes = load<i32>(entry)) {
    if (bytes == length && memory.compare(entry + 4, text, <usize>length) == 0) return true;
    entry += 4 + ((<usize>bytes + 3) & ~3);
  }
  return false;
}

// A list, by offset.
const listTable: usize = 0;
const listElement: usize = 4;
const listPosition: usize = 8;
const listExtra: usize = 12;
const listGroupKey: usize = 16;
const listGroupValue: usize = 20;
const listCollections: usize = 24;

/** The number of the table whose rows its elements are. */
export function tableOf(list: usize): i32 {
  return load<i32>(list, listTable);
}

export function elementOf(list: usize): usize {
  return <usize>load<u32>(list, listElement);
}

export function positionColumn(list: usize): i32 {
  return load<i32>(list, listPosition);
}

export function extraColumn(list: usize): i32 {
  return load<i32>(list, listExtra);
}

/** -1 where the elements are no groups. */
export function groupKeyColumn(list: usize): i32 {
  return load<i32>(list, listGroupKey);
}

export function groupValueColumn(list: usize): i32 {
  return load<i32>(list, listGroupValue);
}

/** The same elements as rows of `collections`; 0 where those are not wanted. */
export function collectionsOf(list: usize): usize {
  return <usize>load<u32>(list, listCollections);
}
