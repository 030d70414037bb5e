import { keyBytes } from '../../../../src/lib/ids/asset-id.ts';
import { type MemberIndex, type MemberRows, rowOf } from '../lists/member-index.ts';
import type { ActiveFault } from './fault-plan.ts';
import type { Fault, FaultOf } from './fault-schema.ts';
import { drawOfKey } from './seeded-draw.ts';

/** An active fault of a known kind. */
export type Active<Kind extends Fault['fault']> = ActiveFault & { readonly fault: FaultOf<Kind> };

/** The faults that lists suffer from, in one exchange. */
export interface ListFaults {
  readonly dropped: readonly Active<'dropped'>[];
  readonly members: Active<'members'> | undefined;
  readonly again: Active<'again'> | undefined;
  readonly cursor: Active<'cursor'> | undefined;
  readonly direction: Active<'direction'> | undefined;
  readonly total: Active<'total'> | undefined;
  readonly pageLimit: Active<'pageLimit'> | undefined;
}

export function listFaults(faults: readonly ActiveFault[]): ListFaults {
  const ofKind = <Kind extends Fault['fault']>(kind: Kind): Active<Kind>[] =>
    faults.filter((active): active is Active<Kind> => active.fault.fault === kind);
  return {
    dropped: ofKind('dropped'),
    members: ofKind('members')[0],
    again: ofKind('again')[0],
    cursor: ofKind('cursor')[0],
    direction: ofKind('direction')[0],
    total: ofKind('total')[0],
    pageLimit: ofKind('pageLimit')[0],
  };
}

/** Which rows cannot be shown: the same ones on every page that holds them. */
export function droppedBy({ dropped }: ListFaults, index: MemberIndex): (row: number) => boolean {
  if (dropped.length === 0) return () => false;
  const { keys } = index;
  const rules = dropped.map(({ fault: { ids, window, share }, drawForBatch }) => {
    const salt = saltOf(drawForBatch, 'dropped');
    const some = new Set(ids);
    const [from, to] = window ?? [0, 1];
    const isIn = (at: number): boolean => {
      const place = placeOf(keys, at);
      return place >= from && (place < to || to === 1);
    };
    // Ids alone name what is dropped; a share or a window takes from all.
    const most = share ?? (ids === undefined || window !== undefined ? 1 : 0);
    return (row: number): boolean => {
      const at = row * keyBytes;
      if (some.size > 0 && some.has(index.idAt(row))) return true;
      return most > 0 && isIn(at) && drawOfKey(salt, keys, at) < most;
    };
  });
  return (row) => rules.some((isDropped) => isDropped(row));
}

/** Where a key lies in the key space, from 0 up to 1. */
function placeOf(keys: Uint8Array, at: number): number {
  return ((keys[at] ?? 0) * 0x1_0000 + (keys[at + 1] ?? 0) * 0x100 + (keys[at + 2] ?? 0)) / 0x100_0000;
}

function saltOf(drawForBatch: ActiveFault['drawForBatch'], word: string): number {
  return Math.floor(drawForBatch(word)() * 2 ** 32);
}

/** Those that come and those that leave, in the order in which they do. */
const drawn = new WeakMap<MemberRows['buffer'], Map<string, readonly number[]>>();

/** The rows that are not members now: those that are still to come, and those that have left. */
export function hiddenRows(
  { members: active }: ListFaults,
  members: MemberRows,
  keys: Uint8Array,
): ReadonlySet<number> {
  if (active === undefined) return new Set();
  const { come, leave, calls, most } = active.fault;
  const steps = Math.floor((active.call - 1) / calls);
  const order = orderOf(members, keys, saltOf(active.drawForBatch, 'members'));
  const comers = come === 0 ? [] : order.slice(0, most);
  const leavers = leave === 0 ? [] : order.slice(Math.max(comers.length, order.length - most));
  return new Set([...comers.slice(steps * come), ...leavers.slice(0, steps * leave)]);
}

/** The rows of a list in an order that the salt decides. */
function orderOf(members: MemberRows, keys: Uint8Array, salt: number): readonly number[] {
  const known = drawn.get(members.buffer) ?? new Map<string, readonly number[]>();
  drawn.set(members.buffer, known);
  const name = `${members.byteOffset} ${salt}`;
  const order = known.get(name) ?? drawnOrder(members, keys, salt);
  known.set(name, order);
  return order;
}

function drawnOrder(members: MemberRows, keys: Uint8Array, salt: number): number[] {
  const rows = Array.from(members, rowOf);
  const draws = new Map(rows.map((row) => [row, drawOfKey(salt, keys, row * keyBytes)]));
  return rows.sort((left, right) => (draws.get(left) ?? 0) - (draws.get(right) ?? 0));
}
