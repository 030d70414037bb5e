import { copy } from './memory';
import { setFull } from './made';
import { closeBrace, comma, openBrace } from './tokens';
import { memberKey, memberKeyLength } from './plan';

/**
 * The text of an `extra` cell in the making: members without a column, within the objects that they stood in. There are two, 64 bytes each in the header's style:
 * that of the record, and that of the element of a list. Lists do not nest.
 */
export const recordExtra: usize = memory.data(64, 16);
export const elementExtra: usize = memory.data(64, 16);

// Slots of an extra, by offset. Names are members of the plan, from the outside in.
const startAt: usize = 0;
const endAt: usize = 4;
const lastAt: usize = 8;
const depthAt: usize = 12;
const openedAt: usize = 16;
const followsAt: usize = 20;
const namesAt: usize = 24;
/** Branches within branches: a plan has two. */
const mostDepth: u32 = 8;

export function placeExtra(extra: usize, at: usize, bytes: i32): void {
  store<u32>(extra + startAt, <u32>at);
  store<u32>(extra + lastAt, <u32>at + bytes);
}

export function beginExtra(extra: usize): void {
  store<u32>(extra + endAt, load<u32>(extra + startAt));
  store<u32>(extra + depthAt, 0);
  store<u32>(extra + openedAt, 0);
  store<u32>(extra + followsAt, 0);
}

/** An object begins that is this member. False for one too deep. */
export function enterExtra(extra: usize, member: usize): bool {
  const depth = load<u32>(extra + depthAt);
  if (depth == mostDepth) return false;
  store<u32>(extra + namesAt + ((<usize>depth) << 2), <u32>member);
  store<u32>(extra + depthAt, depth + 1);
  return true;
}

/** The object ends; true when something of it was kept. */
export function leaveExtra(extra: usize): bool {
  const depth = load<u32>(extra + depthAt);
  const isOpened = load<u32>(extra + openedAt) == depth;
  store<u32>(extra + depthAt, depth - 1);
  if (isOpened) {
    store<u32>(extra + openedAt, depth - 1);
    putByte(extra, closeBrace);
    store<u32>(extra + followsAt, 1);
  }
  return isOpened;
}

/** Keeps a member of the innermost object. False, and `isFull` is set, where there is no room. */
export function addExtra(extra: usize, member: usize, text: usize, length: i32): bool {
  if (!hasExtraRoom(extra, member, length)) {
    setFull(true);
    return false;
  }
  openExtra(extra);
  putKey(extra, member);
  store<u32>(extra + followsAt, 1);
  const end = <usize>load<u32>(extra + endAt);
  copy(end, text, length);
  store<u32>(extra + endAt, <u32>end + length);
  return true;
}

/** Room for the value, its key, those of the objects that it opens, and later their closing braces. */
function hasExtraRoom(extra: usize, member: usize, length: i32): bool {
  let bytes = <u32>length + memberKeyLength(member) + 64;
  const depth = load<u32>(extra + depthAt);
  for (let index = load<u32>(extra + openedAt); index < depth; index += 1)
    bytes += memberKeyLength(nameOf(extra, index)) + 4;
  return load<u32>(extra + endAt) + bytes <= load<u32>(extra + lastAt);
}

function openExtra(extra: usize): void {
  if (extraLength(extra) == 0) putByte(extra, openBrace);
  const depth = load<u32>(extra + depthAt);
  for (let index = load<u32>(extra + openedAt); index < depth; index += 1) {
    putKey(extra, nameOf(extra, index));
    putByte(extra, openBrace);
    store<u32>(extra + followsAt, 0);
  }
  store<u32>(extra + openedAt, depth);
}

function nameOf(extra: usize, index: u32): usize {
  return <usize>load<u32>(extra + namesAt + ((<usize>index) << 2));
}

function putKey(extra: usize, member: usize): void {
  if (load<u32>(extra + followsAt) != 0) putByte(extra, comma);
  const end = <usize>load<u32>(extra + endAt);
  const length = memberKeyLength(member);
  copy(end, memberKey(member), length);
  store<u32>(extra + endAt, <u32>end + length);
}

function putByte(extra: usize, byte: u32): void {
  const end = load<u32>(extra + endAt);
  store<u8>(<usize>end, byte);
  store<u32>(extra + endAt, end + 1);
}

export function extraAt(extra: usize): usize {
  return <usize>load<u32>(extra + startAt);
}

export function extraLength(extra: usize): i32 {
  return <i32>(load<u32>(extra + endAt) - load<u32>(extra + startAt));
}

/** Ends the text; where it is empty it stays so. */
export function endExtra(extra: usize): void {
  if (extraLength(extra) > 0) putByte(extra, closeBrace);
}
