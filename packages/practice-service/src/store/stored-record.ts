import type { AnswerBytes } from '../answer-bytes.ts';
import {
  cutsOf,
  elementsOf,
  type JsonMember,
  type JsonSpan,
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

/**
 * The text of a record as loaded, in UTF-8, and what has to be known to serve it: it is not parsed then, the bytes between what is
 * hidden are copied. From a store, it is valid until the next call.
 */
export interface StoredRecord {
  readonly text: Buffer;
  /** `getAsset` gives it only with `showUnverifiedCollections`. */
  readonly isUnverified: boolean;
  /** Ranges that only a flag shows, rising, two numbers each: twice the start, plus 1 for `collection_metadata`; and the end. */
  readonly hidden: readonly number[];
}

/** @param text the JSON text of `value`. */
export function recordOf(text: Buffer, value: Readonly<Record<string, unknown>>): StoredRecord {
  return { text, isUnverified: isOfUnverifiedCollection(value['grouping']), hidden: findHidden(text, value) };
}

/** Appends the record's text, less what the flags do not show. */
export function appendRecord(out: AnswerBytes, { text, hidden }: StoredRecord, show: ShowFlags): void {
  let from = 0;
  for (let at = 0; at < hidden.length; at += 2) {
    const start = hidden[at] ?? 0;
    if (start % 2 === 0 ? show.showFungible : show.showCollectionMetadata) continue;
    out.bytes(text, from, start >>> 1);
    from = hidden[at + 1] ?? 0;
  }
  out.bytes(text, from, text.length);
}

/** The parsed value says whether there is anything to cut, so that most records are not scanned. */
function findHidden(text: Buffer, value: Readonly<Record<string, unknown>>): number[] {
  const { grouping } = value;
  const hasMetadata = Array.isArray(grouping) && grouping.some((group) => hasOwn(group, 'collection_metadata'));
  if (!hasMetadata && !Object.hasOwn(value, 'token_info')) return [];
  const members = membersOf(text, skipBlanks(text, 0));
  const tokens = cutsOf(members, (member) => member.key === 'token_info').map(({ start, end }) => [2 * start, end]);
  const metadata = members.filter(({ key }) => key === 'grouping').flatMap((member) => metadataCuts(text, member));
  return [...tokens, ...metadata.map(({ start, end }) => [2 * start + 1, end])]
    .sort(([left = 0], [right = 0]) => left - right)
    .flat();
}

function metadataCuts(text: Buffer, grouping: JsonMember): JsonSpan[] {
  if (!startsArray(text, grouping.value.start)) return [];
  return elementsOf(text, grouping.value.start)
    .filter((element) => startsObject(text, element.start))
    .flatMap((element) => cutsOf(membersOf(text, element.start), (member) => member.key === 'collection_metadata'));
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
