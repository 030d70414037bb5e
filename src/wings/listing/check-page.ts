import type { RecordError } from '../../core/client/asset-client.ts';
import { idOfBytes, keyBytes, putIdBytes } from '../../lib/ids/asset-id.ts';
import { type Direction, keyAt } from './walk/keys.ts';
import type { AnsweredPage, PageRequest } from './walk/walk.ts';
import type { ListedRecord, ParsedPage } from './wire/parse-page.ts';

/** A page whose ids are those that were asked for. */
export interface CheckedPage extends AnsweredPage {
  /** In the order of `keys`. */
  readonly members: readonly {
    readonly record: ListedRecord['record'] | undefined;
    readonly error: RecordError | undefined;
  }[];
}

/**
 * Checks a page against its request, and puts its members in order.
 * @param hasPlaces whether the list is walked by places: else ids may come in any order
 * @returns why it is malformed, in words, if it is
 */
export function checkPage(page: ParsedPage, request: PageRequest, hasPlaces: boolean): CheckedPage | string {
  const found = [
    ...page.records.map(({ id, record }) => ({ key: keyOf(id), record, error: undefined })),
    ...page.errors.map((error) => ({ key: keyOf(error.id), record: undefined, error })),
  ];
  const last = found[page.records.length - 1]?.key;
  const direction = directionOf(found.slice(0, page.records.length).map(({ key }) => key));
  found.sort((one, other) => Buffer.compare(one.key, other.key));
  const keys = new Uint8Array(keyBytes * found.length);
  for (const [at, { key }] of found.entries()) keys.set(key, keyBytes * at);
  const wrong = hasPlaces ? (wrongOrder(direction, request, keys) ?? wrongRange(request, keys)) : repeated(keys);
  if (wrong !== undefined) return wrong;
  return {
    keys,
    members: found,
    direction: direction === 'unsorted' ? undefined : direction,
    inErrors: page.errors.length,
    total: page.total,
    cursor: page.cursor,
    last: last && keyAt(last, 0),
  };
}

function keyOf(id: string): Uint8Array {
  const key = new Uint8Array(keyBytes);
  putIdBytes(id, key, 0);
  return key;
}

function directionOf(keys: readonly Uint8Array[]): Direction | 'unsorted' | undefined {
  let rising = 0;
  for (let at = 1; at < keys.length; at += 1)
    if (Buffer.compare(keys[at - 1] ?? new Uint8Array(), keys[at] ?? new Uint8Array()) < 0) rising += 1;
  if (keys.length < 2) return undefined;
  if (rising === keys.length - 1) return 'rising';
  return rising === 0 ? 'falling' : 'unsorted';
}

function wrongOrder(
  direction: Direction | 'unsorted' | undefined,
  request: PageRequest,
  keys: Uint8Array,
): string | undefined {
  const twice = repeated(keys);
  if (twice !== undefined) return twice;
  if (direction === undefined) return undefined;
  if (direction === 'unsorted') return 'the list is not sorted by id';
  if (request.direction === undefined || direction === request.direction) return undefined;
  return `the list is not sorted by id: its ids were ${request.direction}, and are ${direction} now`;
}

function wrongRange({ after, before }: PageRequest, keys: Uint8Array): string | undefined {
  if (keys.length === 0) return undefined;
  const last = keys.length - keyBytes;
  if (after !== undefined && keyAt(keys, 0) <= after)
    return `the service ignores after: ${idOfBytes(keys)} came, which is not above that place`;
  if (before !== undefined && keyAt(keys, last) >= before)
    return `the service ignores before: ${idOfBytes(keys, last)} came, which is not below that place`;
  return undefined;
}

function repeated(keys: Uint8Array): string | undefined {
  for (let at = keyBytes; at < keys.length; at += keyBytes)
    if (Buffer.compare(keys.subarray(at - keyBytes, at), keys.subarray(at, at + keyBytes)) === 0)
      return `a page has ${idOfBytes(keys, at)} twice`;
  return undefined;
}
