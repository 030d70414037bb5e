import type { AnswerBytes } from '../answer-bytes.ts';
import {
  cutsOf,
  elementsOf,
  type JsonMember,
  membersOf,
  skipBlanks,
  startsArray,
  startsObject,
} from './json-members.ts';

/** The flags of `config` that show or hide parts of a record. */
export interface ShowFlags {
  readonly showFungible: boolean;
  readonly showCollectionMetadata: boolean;
}

/*
 * A record is stored as its text, byte for byte, after a head that lists the ranges that only a flag shows. So it
 * is served without parsing: the bytes between the cuts are copied. Layout, little endian:
 *   u8 marks (bit 0: of an unverified collection), u32 count of cuts, then per cut u8 flag, u32 start, u32 end; text.
 */
const headBytes = 5;
const cutBytes = 9;
const unverifiedMark = 1;
const showFungibleCut = 0;
const showCollectionMetadataCut = 1;

interface Cut {
  readonly flag: number;
  readonly start: number;
  readonly end: number;
}

/**
 * Packs the text of a record for serving.
 * @param text the JSON text of `value`, in UTF-8.
 */
export function packRecord(text: Buffer, value: Readonly<Record<string, unknown>>): Buffer {
  const cuts = findCuts(text, value);
  const packed = Buffer.allocUnsafe(headBytes + cuts.length * cutBytes + text.length);
  packed.writeUInt8(isOfUnverifiedCollection(value['grouping']) ? unverifiedMark : 0, 0);
  packed.writeUInt32LE(cuts.length, 1);
  cuts.forEach((cut, index) => {
    const at = headBytes + index * cutBytes;
    packed.writeUInt8(cut.flag, at);
    packed.writeUInt32LE(cut.start, at + 1);
    packed.writeUInt32LE(cut.end, at + 5);
  });
  text.copy(packed, headBytes + cuts.length * cutBytes);
  return packed;
}

/** True for an asset that `getAsset` gives only with `showUnverifiedCollections`. */
export function isUnverified(packed: Buffer): boolean {
  return ((packed[0] ?? 0) & unverifiedMark) !== 0;
}

/** The whole text of the record. */
export function recordText(packed: Buffer): Buffer {
  return packed.subarray(headBytes + packed.readUInt32LE(1) * cutBytes);
}

/** Appends the record's text, less what the flags do not show. */
export function appendRecord(out: AnswerBytes, packed: Buffer, show: ShowFlags): void {
  const count = packed.readUInt32LE(1);
  const text = headBytes + count * cutBytes;
  let from = text;
  for (let at = headBytes; at < text; at += cutBytes) {
    if (packed[at] === showFungibleCut ? show.showFungible : show.showCollectionMetadata) continue;
    out.bytes(packed, from, text + packed.readUInt32LE(at + 1));
    from = text + packed.readUInt32LE(at + 5);
  }
  out.bytes(packed, from, packed.length);
}

/** The parsed value says whether there is anything to cut, so that most records are not scanned. */
function findCuts(text: Buffer, value: Readonly<Record<string, unknown>>): Cut[] {
  const { grouping } = value;
  const hasMetadata = Array.isArray(grouping) && grouping.some((group) => hasOwn(group, 'collection_metadata'));
  if (!hasMetadata && !Object.hasOwn(value, 'token_info')) return [];
  const members = membersOf(text, skipBlanks(text, 0));
  const cuts: Cut[] = cutsOf(members, (member) => member.key === 'token_info').map((range) => ({
    flag: showFungibleCut,
    ...range,
  }));
  for (const member of members) if (member.key === 'grouping') cuts.push(...metadataCuts(text, member));
  return cuts.sort((a, b) => a.start - b.start);
}

function metadataCuts(text: Buffer, grouping: JsonMember): Cut[] {
  if (!startsArray(text, grouping.value.start)) return [];
  return elementsOf(text, grouping.value.start)
    .filter((element) => startsObject(text, element.start))
    .flatMap((element) => cutsOf(membersOf(text, element.start), (member) => member.key === 'collection_metadata'))
    .map((range) => ({ flag: showCollectionMetadataCut, ...range }));
}

/** A collection is unverified when its group says so and no other collection of the asset is better. */
function isOfUnverifiedCollection(grouping: unknown): boolean {
  if (!Array.isArray(grouping)) return false;
  const collections = grouping.filter((group) => hasOwn(group, 'group_key') && group['group_key'] === 'collection');
  return (
    collections.length > 0 && collections.every((group) => hasOwn(group, 'verified') && group['verified'] === false)
  );
}

function hasOwn<Key extends string>(value: unknown, key: Key): value is Record<Key, unknown> {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, key);
}
