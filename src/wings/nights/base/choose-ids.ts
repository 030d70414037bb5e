import type { Base } from '../../../core/job/job-sections.ts';
import { type MaxAge, maxAgeOf, overdueHours } from './ages.ts';
import type { AssetClasses } from './asset-classes.ts';
import { type BaseFate, type BaseKeys, classOf, fateOf, marks, timeIndexOf } from './base-keys.ts';

export interface ChoiceOptions {
  readonly base: Pick<Base, 'missingAfter' | 'maxCredits'>;
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
  /** By class: rows among the ids, and those that are requested. */
  readonly classes: readonly { readonly rows: number; readonly asked: number }[];
}

/** Marks which listed ids of the base are requested, by keys, job and start alone. What the base does not know always is. */
export function chooseIds(keys: BaseKeys, options: ChoiceOptions): Choice {
  const { base, classes, startedAtMs, idsPerCall, newIds } = options;
  const ages = new Overdue(keys, classes, { missingAfter: maxAgeOf(base.missingAfter), startedAtMs });
  const listed = new ListedKinds(keys);
  const failed = listed.take(Infinity, (kind) => (fateOf(kind) === 'failed' ? 0 : undefined));
  const always = newIds + failed;
  const room = roomFor(always, options);
  const overdueOf = (fate: BaseFate) => (kind: number) =>
    fateOf(kind) === fate && ages.of(kind) >= 0 ? ages.of(kind) : undefined;
  const missing = listed.take(room, overdueOf('missing'));
  const stale = listed.take(room - missing, overdueOf('row'));
  const asked = always + missing + stale;
  const free = asked === 0 ? 0 : (idsPerCall - (asked % idsPerCall)) % idsPerCall;
  const filledUp = listed.take(free, (kind) => {
    const age = ages.of(kind);
    return fateOf(kind) === 'row' && age !== Number.NEGATIVE_INFINITY ? age : undefined;
  });
  const perClass = classes.all.map(() => ({ rows: 0, asked: 0 }));
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
    } else if (!isAsked) stillMissing += 1;
    if (isAsked || ages.of(kind) < 0) continue;
    keys.mark(slot, marks.overdue);
    overdue += 1;
  }
  return {
    asked: { new: newIds, failed, missing, stale: stale + filledUp },
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

/** Of each kind none, all, or the ids with the smallest numbers are taken. */
const whole = 1;
const byId = 2;

/** Numbers are counted in so many steps before the one that decides is searched. */
const steps = 65_536;

/** The listed ids that are not requested yet. Among ids of a kind a hash of the id decides. */
class ListedKinds {
  readonly #keys: BaseKeys;
  /** How many there are of each kind. */
  readonly #counts: Uint32Array;

  constructor(keys: BaseKeys) {
    this.#keys = keys;
    this.#counts = new Uint32Array(keys.kinds);
    for (const slot of this.#slots()) this.#count(keys.kind(slot), 1);
  }

  /** Marks as asked the ids with the largest keys, so many of them at most. */
  take(want: number, keyOf: (kind: number) => number | undefined): number {
    const groups = new Map<number, number[]>();
    for (const [kind, count] of this.#counts.entries()) {
      const key = count === 0 ? undefined : keyOf(kind);
      if (key === undefined) continue;
      const group = groups.get(key);
      if (group === undefined) groups.set(key, [kind]);
      else group.push(kind);
    }
    const kinds = new Uint8Array(this.#counts.length);
    let left = want;
    for (const [, group] of [...groups].sort(([a], [b]) => b - a)) {
      if (left <= 0) break;
      const size = group.reduce((sum, kind) => sum + (this.#counts[kind] ?? 0), 0);
      for (const kind of group) kinds[kind] = size <= left ? whole : byId;
      if (size > left) return this.#ask(kinds, this.#numberAt(left, kinds));
      left -= size;
    }
    return kinds.includes(whole) ? this.#ask(kinds, 1) : 0;
  }

  *#slots(): Generator<number, void, void> {
    const { table } = this.#keys;
    for (let slot = 0; slot < table.slots; slot += 1)
      if ((table.value(slot) & (marks.listed | marks.asked)) === marks.listed) yield slot;
  }

  #count(kind: number, more: number): void {
    this.#counts[kind] = (this.#counts[kind] ?? 0) + more;
  }

  /** From 0 to 1, by the hash of the id. */
  #number(slot: number): number {
    const { table } = this.#keys;
    return (table.word(slot, 1) * 1_048_576 + (table.word(slot, 2) >>> 12)) / 2 ** 52;
  }

  /** @param most of the kinds that are taken by id, the largest number that is taken */
  #ask(kinds: Uint8Array, most: number): number {
    let taken = 0;
    for (const slot of this.#slots()) {
      const kind = this.#keys.kind(slot);
      const how = kinds[kind] ?? 0;
      if (how === 0 || (how === byId && this.#number(slot) > most)) continue;
      this.#keys.mark(slot, marks.asked);
      this.#count(kind, -1);
      taken += 1;
    }
    return taken;
  }

  /** The largest number of the `want` ids with the smallest ones. Memory does not grow with the ids. */
  #numberAt(want: number, kinds: Uint8Array): number {
    const counts = new Uint32Array(steps);
    const each = (take: (number: number, step: number) => void): void => {
      for (const slot of this.#slots()) {
        if (kinds[this.#keys.kind(slot)] !== byId) continue;
        const number = this.#number(slot);
        take(number, Math.floor(number * steps));
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
    const numbers: number[] = [];
    each((number, own) => {
      if (own === step) numbers.push(number);
    });
    return numbers.sort((a, b) => a - b)[want - before - 1] ?? 1;
  }
}
