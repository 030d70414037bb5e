import type { Base } from '../../../core/job/job-sections.ts';
import { dayMs } from '../../../lib/clock.ts';
import { finish } from '../../../lib/hash/hash-128.ts';
import { type MaxAge, maxAgeOf, overdueHours } from './ages.ts';
import type { AssetClasses } from './asset-classes.ts';
import { type BaseFate, type BaseKeys, classOf, fateOf, marks, timeIndexOf } from './base-keys.ts';

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
  /** Ids of the base that are listed now, whatever became of them there. */
  readonly known: number;
  /** Rows of the base whose ids are not listed now. */
  readonly unlisted: number;
  /** Stale rows and missing ids that the limit left out. */
  readonly overdue: number;
  /** By class: rows among the ids, those that are requested, and of these the ones that `asked.stale` counts. */
  readonly classes: readonly { readonly rows: number; readonly asked: number; readonly stale: number }[];
}

/** Chooses which listed ids of the base are requested, and marks them. A pure function of keys, job and start. */
export function chooseIds(keys: BaseKeys, options: ChoiceOptions): Choice {
  const { base, classes, startedAtMs, idsPerCall, newIds } = options;
  const ages = new Overdue(keys, classes, { missingAfter: maxAgeOf(base.missingAfter), startedAtMs });
  const listed = new ListedKinds(keys, Math.floor(startedAtMs / dayMs));
  const failed = listed.take(Infinity, 0, (kind) => (fateOf(kind) === 'failed' ? 0 : undefined));
  const always = newIds + failed;
  let room = roomFor(always, options);
  const overdueOf = (fate: BaseFate) => (kind: number) =>
    fateOf(kind) === fate && ages.of(kind) >= 0 ? ages.of(kind) : undefined;
  const missing = listed.take(room, marks.tied, overdueOf('missing'));
  room -= missing;
  const stale = listed.take(room, marks.tied, overdueOf('row'));
  room -= stale;
  const share = Number(base.sample.slice(0, -1)) / 100;
  const sample = listed.takeSample(room, share, (kind) => fateOf(kind) === 'row' && ages.of(kind) < 0);
  const asked = always + missing + stale + sample;
  const free = asked === 0 ? 0 : (idsPerCall - (asked % idsPerCall)) % idsPerCall;
  const filledUp = listed.take(free, marks.tied, (kind) => {
    const age = ages.of(kind);
    return fateOf(kind) === 'row' && age !== Number.NEGATIVE_INFINITY ? age : undefined;
  });
  const perClass = classes.all.map(() => ({ rows: 0, asked: 0, stale: 0 }));
  let carried = 0;
  let stillMissing = 0;
  let overdue = 0;
  let known = 0;
  let unlisted = 0;
  for (const slot of keys.slots()) {
    const kind = keys.kind(slot);
    if (!keys.has(slot, marks.listed)) {
      if (fateOf(kind) === 'row') unlisted += 1;
      continue;
    }
    known += 1;
    const isAsked = keys.has(slot, marks.asked);
    const own = perClass[classOf(kind)];
    if (fateOf(kind) === 'row' && own !== undefined) {
      own.rows += 1;
      if (isAsked) own.asked += 1;
      else carried += 1;
      if (isAsked && !keys.has(slot, marks.sampled)) own.stale += 1;
    } else if (!isAsked) stillMissing += 1;
    if (isAsked || ages.of(kind) < 0) continue;
    keys.mark(slot, marks.overdue);
    overdue += 1;
  }
  return {
    asked: { new: newIds, failed, missing, stale: stale + filledUp, sample },
    total: asked + filledUp,
    filledUp,
    carried,
    stillMissing,
    known,
    unlisted,
    overdue,
    classes: perClass,
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
  /** By class, then by time; the last one is that of missing ids. */
  readonly #hours: readonly (readonly number[])[];

  constructor(
    keys: BaseKeys,
    { all }: AssetClasses,
    { missingAfter, startedAtMs }: { missingAfter: MaxAge; startedAtMs: number },
  ) {
    this.#hours = [...all.map(({ maxAge }) => maxAge), missingAfter].map((age) =>
      keys.times.map((time) => overdueHours(age, time, startedAtMs)),
    );
  }

  of(kind: number): number {
    const at = fateOf(kind) === 'row' ? classOf(kind) : this.#hours.length - 1;
    return this.#hours[at]?.[timeIndexOf(kind)] ?? 0;
  }
}

/** Numbers from 0 to 1 by id and night: what decides between ids that are equal otherwise. */
class Lots {
  readonly #keys: BaseKeys;
  readonly #night: number;

  /** @param night days since 1970 */
  constructor(keys: BaseKeys, night: number) {
    this.#keys = keys;
    this.#night = night;
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
    const high = finish(table.word(slot, 1) ^ night) >>> 0;
    const low = finish(table.word(slot, 2) ^ high) >>> 0;
    return (high * 1_048_576 + (low >>> 12)) / 2 ** 52;
  }
}

/** What ids of a kind are ordered by, the largest first; undefined for those that are not to be taken. */
type KeyOf = (kind: number) => number | undefined;

const whole = 1;
const byLot = 2;

/** Lots are counted in so many steps before the one that decides is looked for. */
const lotSteps = 65_536;

/** Some of the listed ids: by their kind, and by their lot. */
interface Selection {
  /** By kind: 0, `whole`, or `byLot` for ids whose lot is at most `most`. */
  readonly kinds: Uint8Array;
  readonly lotOf: (slot: number) => number;
  readonly most: number;
}

/** The listed ids that are not requested yet. Those of a kind are equal but for their lot. */
class ListedKinds {
  readonly #keys: BaseKeys;
  readonly #lots: Lots;
  /** How many there are of each kind. */
  readonly #counts: Uint32Array;

  constructor(keys: BaseKeys, night: number) {
    this.#keys = keys;
    this.#lots = new Lots(keys, night);
    this.#counts = new Uint32Array(keys.kinds);
    for (const slot of this.#slots()) this.#count(keys.kind(slot), 1);
  }

  /** Marks as asked the ids with the largest keys, so many of them at most. `mark` is for those that were chosen by lot. */
  take(want: number, mark: number, keyOf: KeyOf): number {
    const groups = new Map<number, number[]>();
    for (const [kind, count] of this.#counts.entries()) {
      const key = count === 0 ? undefined : keyOf(kind);
      if (key === undefined) continue;
      const group = groups.get(key);
      if (group === undefined) groups.set(key, [kind]);
      else group.push(kind);
    }
    const kinds = new Uint8Array(this.#counts.length);
    const lotOf = (slot: number): number => this.#lots.tie(slot);
    let left = want;
    for (const [, group] of [...groups].sort(([a], [b]) => b - a)) {
      if (left <= 0) break;
      const size = group.reduce((sum, kind) => sum + (this.#counts[kind] ?? 0), 0);
      for (const kind of group) kinds[kind] = size <= left ? whole : byLot;
      if (size > left) return this.#ask({ kinds, lotOf, most: this.#lotAt(left, { kinds, lotOf, most: 1 }) }, mark);
      left -= size;
    }
    return kinds.includes(whole) ? this.#ask({ kinds, lotOf, most: 1 }, mark) : 0;
  }

  /** Marks as asked a share of the ids of some kinds, chosen by lot, so many of them at most. */
  takeSample(want: number, share: number, isOf: (kind: number) => boolean): number {
    if (want <= 0 || share <= 0) return 0;
    const kinds = new Uint8Array(this.#counts.length);
    for (const [kind, count] of this.#counts.entries()) if (count > 0 && isOf(kind)) kinds[kind] = byLot;
    const sample = { kinds, lotOf: (slot: number) => this.#lots.sample(slot), most: share };
    return this.#ask({ ...sample, most: this.#lotAt(want, sample) }, marks.sampled);
  }

  *#slots(): Generator<number, void, void> {
    const { table } = this.#keys;
    for (let slot = 0; slot < table.slots; slot += 1)
      if ((table.value(slot) & (marks.listed | marks.asked)) === marks.listed) yield slot;
  }

  #count(kind: number, more: number): void {
    this.#counts[kind] = (this.#counts[kind] ?? 0) + more;
  }

  #ask({ kinds, lotOf, most }: Selection, mark: number): number {
    let taken = 0;
    for (const slot of this.#slots()) {
      const kind = this.#keys.kind(slot);
      const how = kinds[kind] ?? 0;
      if (how === 0 || (how === byLot && lotOf(slot) > most)) continue;
      this.#keys.mark(slot, marks.asked | (how === byLot ? mark : 0));
      this.#count(kind, -1);
      taken += 1;
    }
    return taken;
  }

  /** The largest lot of the `want` ids with the smallest ones; `most` where there are no more ids. Memory does not grow with the ids. */
  #lotAt(want: number, { kinds, lotOf, most }: Selection): number {
    const counts = new Uint32Array(lotSteps + 1);
    const each = (take: (lot: number, step: number) => void): void => {
      for (const slot of this.#slots()) {
        const lot = kinds[this.#keys.kind(slot)] === byLot ? lotOf(slot) : Number.POSITIVE_INFINITY;
        if (lot <= most) take(lot, Math.floor(lot * lotSteps));
      }
    };
    each((_, step) => {
      counts[step] = (counts[step] ?? 0) + 1;
    });
    let before = 0;
    const step = counts.findIndex((count) => {
      if (before + count >= want) return true;
      before += count;
      return false;
    });
    if (step < 0) return most;
    const lots: number[] = [];
    each((lot, own) => {
      if (own === step) lots.push(lot);
    });
    return lots.sort((a, b) => a - b)[want - before - 1] ?? most;
  }
}
