import { followerAt, type Following, type LakeLoss, type NightsRoot } from '../../core/run/night-follower.ts';
import { ExportError } from '../../lib/export-error.ts';
import { type KeepRules, keptByRules, newestFirst } from './keep-rules.ts';
import type { CompleteNight, NightsSurvey } from './survey-nights.ts';

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

/**
 * Tells which exports the rules keep. Removes nothing.
 * @param spared why an export is kept whatever the rules say, if so
 * @throws {ExportError} `usage`
 */
export async function planPruning(
  place: NightsPlace,
  rules: KeepRules,
  spared: (night: CompleteNight) => string | undefined = () => undefined,
): Promise<Pruning> {
  if (Object.values(rules).every((number) => number === 0)) {
    throw new ExportError('usage', 'prune needs a rule: without one it would keep nothing', {
      todo: 'Add --keep-last, --keep-daily, --keep-weekly or --keep-monthly with a number.',
    });
  }
  const survey = await place.survey();
  const counted = survey.complete.filter(({ isSetAside }) => !isSetAside);
  const reasons = keptByRules(counted, rules);
  const kept: KeptNight[] = survey.untouched.map(({ name, reason }) => ({ name, reasons: [reason] }));
  const removed: RemovableNight[] = [];
  for (const night of survey.complete) {
    const own = spared(night);
    const always = [...(own === undefined ? [] : [own]), ...protectedBy(night, { ...survey, complete: counted })];
    const all = [...always, ...(reasons.get(night.name) ?? [])];
    if (all.length > 0) kept.push({ name: night.name, reasons: all });
    else removed.push({ name: night.name, bytes: night.bytes });
  }
  return { kept: byName(kept), removed: byName(removed), leftovers: survey.halfRemoved };
}

/** Why an export is kept whatever the rules say. */
function protectedBy(night: CompleteNight, { complete, begun, latest }: NightsSurvey): string[] {
  const isNewest = newestFirst(complete)[0] === night;
  const isBase = begun.some((start) => night.seals.some((seal) => start.includes(seal)));
  return [
    ...(isNewest ? ['newest'] : []),
    ...(night.name === latest ? ['latest'] : []),
    ...(isBase ? ['base of an unfinished export'] : []),
  ];
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
  return follower.removing(root, namesOf(pruning), () => prune(place, pruning));
}

/** What the lake beside the exports would lose with those that the plan removes; undefined where it would lose nothing. */
export async function lossesOf(root: NightsRoot, pruning: Pruning, wings: Following): Promise<LakeLoss | undefined> {
  return (await followerAt(root.place, wings))?.losses(root, namesOf(pruning));
}

function namesOf({ removed, leftovers }: Pruning): string[] {
  return [...leftovers, ...removed.map(({ name }) => name)];
}

/** Removes what the plan says. @throws {ExportError} `locked` when a run has begun to work on one of them */
export async function prune(place: NightsPlace, pruning: Pruning): Promise<void> {
  for (const name of namesOf(pruning)) await place.remove(name);
}
