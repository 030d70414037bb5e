import { followerAt, type Following, type LakeLoss, type NightsRoot } from '../../core/run/nights.ts';
import { ExportError } from '../../lib/export-error.ts';
import { dateWord, dayPattern, familyOf, type NamedNight } from '../../core/job/night-names.ts';
import { type DatedNight, type KeepRules, keptByRules, newestFirst } from './keep-rules.ts';
import { type CompleteNight, hiddenName, type NightsSurvey } from './survey-nights.ts';

export interface KeptNight {
  readonly name: string;
  readonly reasons: readonly string[];
}

export interface RemovableNight {
  readonly name: string;
  readonly bytes: number;
}

/** What the rules keep of a folder of exports, and what they do not. */
export interface Pruning {
  /** In the order of their names. */
  readonly kept: readonly KeptNight[];
  readonly removed: readonly RemovableNight[];
  /** What an earlier prune began to remove. */
  readonly leftovers: readonly string[];
}

/** Where exports lie side by side. */
export interface NightsPlace {
  survey(): Promise<NightsSurvey>;
  /** Removes an export so that no reader finds half of it; one that was interrupted is continued. */
  remove(name: string): Promise<void>;
}

/** Which nights are looked at, and when. */
export interface PruneOptions {
  /** UTC, `YYYY-MM-DD`: a night dated after it counts for no rule, and is kept. */
  readonly today: string;
  /** A night of a job. It counts even before it is there. Nights whose names do not match its pattern are not looked at. */
  readonly own?: NamedNight | undefined;
  readonly isBase?: (night: CompleteNight) => boolean;
}

/**
 * Tells which exports the rules keep, counted for each family of names. Removes nothing.
 * @throws {ExportError} `usage`
 */
export async function planPruning(
  place: NightsPlace,
  rules: KeepRules,
  { today, own, isBase }: PruneOptions,
): Promise<Pruning> {
  if (Object.values(rules).every((number) => number === 0)) {
    throw new ExportError('usage', 'prune needs a rule: without one it would keep nothing', {
      todo: 'Add --keep-last, --keep-daily, --keep-weekly or --keep-monthly with a number.',
    });
  }
  const survey = await place.survey();
  const patterns = own === undefined ? [] : [own.pattern, hiddenName(own.pattern)].map(dayPattern);
  const isOwn = (name: string): boolean => own === undefined || patterns.some((pattern) => pattern.test(name));
  const complete = survey.complete.filter(({ name }) => isOwn(name));
  const coming = own === undefined ? undefined : { name: own.pattern.replaceAll(dateWord, own.day), day: own.day };
  const counted: DatedNight[] = complete.filter(({ isSetAside, day }) => !isSetAside && day <= today);
  if (coming !== undefined && complete.every(({ name }) => name !== coming.name)) counted.push(coming);
  const reasons = reasonsByFamily(counted, rules);
  const untouched = survey.untouched.filter(({ name }) => isOwn(name));
  const kept: KeptNight[] = untouched.map(({ name, reason }) => ({ name, reasons: [reason] }));
  const removed: RemovableNight[] = [];
  for (const night of complete) {
    const { name, bytes, seals } = night;
    const isPinned = survey.begun.some((start) => seals.some((seal) => start.includes(seal)));
    const all = [
      ...(name === coming?.name ? ['this export'] : []),
      ...(isBase?.(night) === true ? ['base of this export'] : []),
      ...(night.day > today ? ['dated after today'] : []),
      ...(name === survey.latest ? ['latest'] : []),
      ...(isPinned ? ['base of an unfinished export'] : []),
      ...(reasons.get(name) ?? []),
    ];
    if (all.length > 0) kept.push({ name, reasons: all });
    else removed.push({ name, bytes });
  }
  return { kept: byName(kept), removed: byName(removed), leftovers: survey.halfRemoved.filter(isOwn) };
}

/** Why nights are kept by a rule, or as the newest of their family. */
function reasonsByFamily(nights: readonly DatedNight[], rules: KeepRules): Map<string, readonly string[]> {
  const families = new Map<string, DatedNight[]>();
  for (const night of nights)
    families.set(familyOf(night.name), [...(families.get(familyOf(night.name)) ?? []), night]);
  const reasons = new Map<string, readonly string[]>();
  for (const family of families.values()) {
    const kept = keptByRules(family, rules);
    const newest = newestFirst(family)[0];
    for (const night of family)
      reasons.set(night.name, [...(night === newest ? ['newest'] : []), ...(kept.get(night.name) ?? [])]);
  }
  return reasons;
}

function byName<T extends { readonly name: string }>(nights: readonly T[]): T[] {
  return [...nights].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/**
 * Removes what the plan says, and before that takes it out of the lake beside it.
 * @throws {ExportError} `locked` when a run has begun to work on one of them; as the lake does, and then nothing is removed
 */
export async function pruneFollowed(
  root: NightsRoot,
  { place, pruning }: { readonly place: NightsPlace; readonly pruning: Pruning },
  wings: Following,
): Promise<void> {
  const follower = await followerAt(root.place, wings);
  if (follower === undefined) return prune(place, pruning);
  return follower.removing(root, removedNames(pruning), () => prune(place, pruning));
}

/** What the lake beside the exports would lose with those that the plan removes; undefined where it would lose nothing. */
export async function lossesOf(root: NightsRoot, pruning: Pruning, wings: Following): Promise<LakeLoss | undefined> {
  return (await followerAt(root.place, wings))?.losses(root, removedNames(pruning));
}

/** What the plan removes. */
export function removedNames({ removed, leftovers }: Pruning): string[] {
  return [...leftovers, ...removed.map(({ name }) => name)];
}

/** Removes what the plan says. @throws {ExportError} `locked` when a run has begun to work on one of them */
export async function prune(place: NightsPlace, pruning: Pruning): Promise<void> {
  for (const name of removedNames(pruning)) await place.remove(name);
}
