import type { Base } from '../job/base-schema.ts';
import { dayMs } from '../lib/clock.ts';
import { type MaxAge, maxAgeOf, overdueHours } from './ages.ts';
import type { AssetClasses } from './asset-classes.ts';
import { type BaseKeys, marks } from './base-keys.ts';

export interface ChoiceOptions {
  readonly base: Pick<Base, 'missingAfter' | 'sample' | 'maxCredits'>;
  readonly classes: AssetClasses;
  readonly startedAtMs: number;
  readonly idsPerCall: number;
  readonly creditsPerCall: number;
  /** Ids that are not in the base. */
  readonly newIds: number;
}

/** What is requested of the ids of a base, and what is not. */
export interface Choice {
  readonly asked: {
    readonly new: number;
    readonly failed: number;
    readonly missing: number;
    /** With the fresh ones that fill the last call up. */
    readonly stale: number;
    readonly sample: number;
  };
  readonly total: number;
  /** Fresh rows that fill the last call up, of `asked.stale`. */
  readonly filledUp: number;
  readonly carried: number;
  /** Missing ids that are not requested again yet. */
  readonly stillMissing: number;
  /** Stale rows and missing ids that the limit left out. */
  readonly overdue: number;
  /** By class: rows among the ids, those that are requested, and of these the ones that `asked.stale` counts. */
  readonly classes: readonly { readonly rows: number; readonly asked: number; readonly stale: number }[];
}

/** Chooses which listed ids of the base are requested, and marks them. A pure function of keys, job and start. */
export function chooseIds(keys: BaseKeys, options: ChoiceOptions): Choice {
  const { base, classes, startedAtMs, idsPerCall, newIds } = options;
  const ages = new Overdue(keys, classes, { missingAfter: maxAgeOf(base.missingAfter), startedAtMs });
  const listed = (slot: number): boolean => keys.has(slot, marks.listed) && !keys.has(slot, marks.asked);
  const lots = new Lots(keys, startedAtMs);
  const take = (want: number, mark: number, keyOf: KeyOf): number =>
    takeMost(keys, { want, mark, lots, keyOf: (slot) => (listed(slot) ? keyOf(slot) : undefined) });
  const failed = take(Infinity, 0, (slot) => (keys.fate(slot) === 'failed' ? 0 : undefined));
  const always = newIds + failed;
  let room = roomFor(always, options);
  const overdueOf = (fate: 'row' | 'missing') => (slot: number) =>
    keys.fate(slot) === fate && ages.of(slot) >= 0 ? ages.of(slot) : undefined;
  const missing = take(room, marks.tied, overdueOf('missing'));
  room -= missing;
  const stale = take(room, marks.tied, overdueOf('row'));
  room -= stale;
  const share = Number(base.sample.slice(0, -1)) / 100;
  const isFresh = (slot: number): boolean => keys.fate(slot) === 'row' && ages.of(slot) < 0;
  const sample = take(room, marks.sampled, (slot) =>
    isFresh(slot) && lots.sample(slot) < share ? -lots.sample(slot) : undefined,
  );
  const asked = always + missing + stale + sample;
  const free = asked === 0 ? 0 : (idsPerCall - (asked % idsPerCall)) % idsPerCall;
  const filledUp = take(free, marks.tied, (slot) => {
    const age = ages.of(slot);
    return keys.fate(slot) === 'row' && age !== Number.NEGATIVE_INFINITY ? age : undefined;
  });
  const perClass = classes.all.map(() => ({ rows: 0, asked: 0, stale: 0 }));
  let carried = 0;
  let stillMissing = 0;
  let overdue = 0;
  for (const slot of keys.slots()) {
    if (!keys.has(slot, marks.listed)) continue;
    const isAsked = keys.has(slot, marks.asked);
    const own = perClass[keys.assetClass(slot)];
    if (keys.fate(slot) === 'row' && own !== undefined) {
      own.rows += 1;
      if (isAsked) own.asked += 1;
      else carried += 1;
      if (isAsked && !keys.has(slot, marks.sampled)) own.stale += 1;
    } else if (!isAsked) stillMissing += 1;
    if (isAsked || ages.of(slot) < 0) continue;
    keys.mark(slot, marks.overdue);
    overdue += 1;
  }
  return {
    asked: { new: newIds, failed, missing, stale: stale + filledUp, sample },
    ...{ total: asked + filledUp, filledUp, carried, stillMissing, overdue, classes: perClass },
  };
}

/** How many ids of the base may be requested besides those that always are: places in their last call are free. */
function roomFor(always: number, { base, idsPerCall, creditsPerCall }: ChoiceOptions): number {
  const { maxCredits } = base;
  if (maxCredits === undefined || creditsPerCall === 0) return Number.POSITIVE_INFINITY;
  const calls = Math.ceil(always / idsPerCall) + Math.floor(maxCredits / creditsPerCall);
  return calls * idsPerCall - always;
}

/** By how many hours an id of the base is older than it may be. */
class Overdue {
  readonly #keys: BaseKeys;
  /** By class, then by time; the last one is that of missing ids. */
  readonly #hours: readonly (readonly number[])[];

  constructor(
    keys: BaseKeys,
    { all }: AssetClasses,
    { missingAfter, startedAtMs }: { missingAfter: MaxAge; startedAtMs: number },
  ) {
    this.#keys = keys;
    this.#hours = [...all.map(({ maxAge }) => maxAge), missingAfter].map((age) =>
      keys.times.map((time) => overdueHours(age, time, startedAtMs)),
    );
  }

  of(slot: number): number {
    const keys = this.#keys;
    const at = keys.fate(slot) === 'row' ? keys.assetClass(slot) : this.#hours.length - 1;
    return this.#hours[at]?.[keys.timeIndex(slot)] ?? 0;
  }
}

/** Numbers from 0 to 1 by id and night: what decides between ids that are equal otherwise. */
class Lots {
  readonly #keys: BaseKeys;
  readonly #night: number;

  constructor(keys: BaseKeys, startedAtMs: number) {
    this.#keys = keys;
    this.#night = Math.floor(startedAtMs / dayMs);
  }

  tie(slot: number): number {
    return this.#number(slot, 0x9e3779b1);
  }

  sample(slot: number): number {
    return this.#number(slot, 0x85ebca77);
  }

  #number(slot: number, seed: number): number {
    const { table } = this.#keys;
    const night = Math.imul(this.#night + 1, seed);
    const high = mixed(table.word(slot, 1) ^ night);
    const low = mixed(table.word(slot, 2) ^ high);
    return (high * 1_048_576 + (low >>> 12)) / 2 ** 52;
  }
}

/** The last step of MurmurHash3, as a whole number without a sign. */
function mixed(value: number): number {
  let hash = value ^ (value >>> 16);
  hash = Math.imul(hash, 0x85ebca6b);
  hash ^= hash >>> 13;
  hash = Math.imul(hash, 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/** What an id is ordered by, the largest first; undefined for one that is not to be taken. */
type KeyOf = (slot: number) => number | undefined;

interface Taking {
  readonly want: number;
  /** Of those that were chosen by lot. */
  readonly mark: number;
  readonly lots: Lots;
  readonly keyOf: KeyOf;
}

/** Marks as asked the ids with the largest keys, so many of them at most. Two passes and no sort of the whole. */
function takeMost(keys: BaseKeys, { want, mark, lots, keyOf }: Taking): number {
  if (want <= 0) return 0;
  const isSample = mark === marks.sampled;
  const counts = new Map<number, number>();
  // Each of a sample has a key of its own.
  const group = (key: number): number => (isSample ? 0 : key);
  for (const slot of keys.slots()) {
    const key = keyOf(slot);
    if (key !== undefined) counts.set(group(key), (counts.get(group(key)) ?? 0) + 1);
  }
  let left = want;
  let cut: number | undefined;
  for (const key of [...counts.keys()].sort((a, b) => b - a)) {
    const size = counts.get(key) ?? 0;
    if (size > left) {
      cut = key;
      break;
    }
    left -= size;
  }
  const lotOf = (slot: number): number => (isSample ? lots.sample(slot) : lots.tie(slot));
  const most =
    cut === undefined ? 0 : lotAt(keys, { cut, left, lotOf, groupOf: (slot) => undefinedOr(group, keyOf(slot)) });
  let taken = 0;
  for (const slot of keys.slots()) {
    const key = keyOf(slot);
    if (key === undefined) continue;
    const isTie = cut !== undefined && group(key) === cut;
    if (cut !== undefined && (isTie ? left === 0 || lotOf(slot) > most : group(key) < cut)) continue;
    keys.mark(slot, marks.asked | (isTie || isSample ? mark : 0));
    taken += 1;
  }
  return taken;
}

function undefinedOr(map: (key: number) => number, key: number | undefined): number | undefined {
  return key === undefined ? undefined : map(key);
}

interface Cut {
  readonly cut: number;
  readonly left: number;
  readonly lotOf: (slot: number) => number;
  readonly groupOf: KeyOf;
}

/** The largest lot that is still taken of the group at the cut. */
function lotAt(keys: BaseKeys, { cut, left, lotOf, groupOf }: Cut): number {
  const lots: number[] = [];
  for (const slot of keys.slots()) if (groupOf(slot) === cut) lots.push(lotOf(slot));
  return Float64Array.from(lots).sort()[left - 1] ?? 0;
}
