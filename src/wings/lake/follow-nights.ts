import { type NamedNight, namedNight } from '../../core/job/night-names.ts';
import { accountOf } from '../../core/run/complete-export.ts';
import type { FollowedNight, LakeLoss, NightFollower, NightsRoot } from '../../core/run/nights.ts';
import type { PublishedTables } from '../../core/work/run-observer.ts';
import type { HomeContext } from '../../core/run/homes/open-home.ts';
import { intolerable } from '../../core/run/tolerance.ts';
import { ExportError } from '../../lib/export-error.ts';
import { lakeAt, type Lake, openLake, madeFolder, lakeTables } from './lake.ts';
import {
  begunTables,
  factsOf,
  type KnownTable,
  knownTables,
  publishedNights,
  publishedTables,
  publishNight,
  removedNight,
  removeFromAll,
  requireOwnTables,
  requirePattern,
} from './publish-nights.ts';
import { completeNights, nightOn, readNight, refusalOf } from './root-nights.ts';
import { holdsAnyOf } from './table-changes.ts';
import { propertyKeys, snapshotOf, type TableMetadata } from './table-metadata.ts';
import type { LakeTable, TableVersion } from './lake-table.ts';
import { readManifestList } from './manifest-files.ts';
import { keptVersions } from './next-version.ts';
import { lastName, metadataNames, type NamedManifest } from './table-files.ts';

/** What runs, `prune` and repairs have follow their nights. */
export const lakeFollower: NightFollower = { requireSamePattern, completed, losses, removing, repaired };

/** A lake that cannot be read now may be whole when the night is complete: only a pattern that is known is compared. */
async function requireSamePattern({ job, outputDir }: FollowedNight, context: HomeContext): Promise<void> {
  const named = namedNight(outputDir, job.output.dir);
  if (named === undefined) return;
  const lake = await openLake(named.root, job.output.endpoint, context);
  let known: string | undefined;
  try {
    known = (await begunTables(lake)).properties?.[propertyKeys.pattern];
  } catch (error) {
    if (!(error instanceof ExportError)) throw error;
  }
  requirePattern(lake, known, named.pattern);
}

async function completed(night: FollowedNight, context: HomeContext): Promise<PublishedTables> {
  const { job, outputDir } = night;
  try {
    const named = namedNight(outputDir, job.output.dir);
    if (named === undefined) throw new Error(`${job.output.dir} names no day`);
    const lake = await openLake(named.root, job.output.endpoint, context);
    await publishMissing(lake, { ...named, job }, context);
    return await publishedTables(lake);
  } catch (error) {
    throw notInLake(error, job.output.dir);
  }
}

function notInLake(error: unknown, folder: string): unknown {
  if (!(error instanceof ExportError)) return error;
  const isAgain = error.exit === 'unavailable' || error.exit === 'cannotWrite';
  const again = 'Fix the cause, then run the same command again: it publishes the export, and sends no call.';
  return new ExportError(error.exit, `${folder} is complete, not in the lake: ${error.message}`, {
    todo:
      isAgain || error.todo === undefined
        ? [error.todo, again].filter((text) => text !== undefined).join(' ')
        : error.todo,
    facts: error.facts,
    why: error.why,
    cause: error,
  });
}

/** The nights after the newest published one, in their order; an empty lake begins with that of the run. */
async function publishMissing(
  lake: Lake,
  { job, pattern, day }: Pick<NamedNight, 'pattern' | 'day'> & Pick<FollowedNight, 'job'>,
  context: HomeContext,
): Promise<void> {
  const known = await knownTables(lake);
  const before = factsOf(lake, known);
  requirePattern(lake, before.pattern, pattern);
  requireOwnTables(known);
  const facts = { ...before, pattern };
  const newest = publishedNights(known).at(-1) ?? day;
  const others = newest < day ? await completeNights(lake, pattern) : [];
  const missing = others.filter((each) => each.day > newest && each.day < day);
  for (const each of [...missing, nightOn(pattern, day)]) {
    const complete = await readNight(lake, each);
    if (complete === undefined) continue;
    const isOwn = each.day === day;
    const account = accountOf(each.name, complete.finished.manifest);
    let refusal = refusalOf(complete) ?? (isOwn ? undefined : intolerable(account, job));
    if (refusal === undefined && (await publishNight(lake, complete, facts)) === 'removed') {
      refusal = removedNight(lake, complete);
      if (isOwn) throw refusal;
    }
    if (refusal !== undefined)
      context.listener?.({ kind: 'warning', message: passedBy(complete.finished.folder, refusal) });
  }
}

function passedBy(folder: string, { message }: ExportError): string {
  return message.startsWith(folder) ? message : `${folder} is not published in the lake: ${message}`;
}

/** The days of exports that the pattern of a lake names; an interrupted removal gave some another name. */
function daysOf(names: readonly string[], known: readonly KnownTable[]): Set<string> {
  const pattern = known[0]?.newest.metadata.properties[propertyKeys.pattern];
  if (pattern === undefined) return new Set();
  return new Set(
    names.flatMap((name) => {
      const [day] = /\d{4}-\d\d-\d\d/.exec(name) ?? [];
      if (day === undefined) return [];
      const own = nightOn(pattern, day).name;
      return name === own || name.endsWith(`.${own.replaceAll('/', '--')}`) ? [day] : [];
    }),
  );
}

async function losses(root: NightsRoot, names: readonly string[]): Promise<LakeLoss | undefined> {
  const known = await knownTables(lakeAt(root));
  const days = daysOf(names, known);
  const holding = known.filter(({ newest }) => holdsAnyOf(newest.metadata, days));
  if (holding.length === 0) return undefined;
  const nights = [...days].filter((day) => holding.some(({ newest }) => holdsAnyOf(newest.metadata, new Set([day]))));
  return { nights: nights.sort(), tables: holding.map(({ table }) => table.name) };
}

async function removing(root: NightsRoot, names: readonly string[], remove: () => Promise<void>): Promise<void> {
  const lake = lakeAt(root);
  const days = daysOf(names, await knownTables(lake));
  await removeFromAll(lake, days);
  await remove();
  // One that was published meanwhile has no files any more.
  await removeFromAll(lake, days);
  await removeOrphans(lake);
}

async function repaired(root: NightsRoot, name: string): Promise<void> {
  const lake = lakeAt(root);
  const known = await knownTables(lake);
  const [day] = daysOf([name], known);
  const facts = factsOf(lake, known);
  if (day === undefined || facts.pattern === undefined) return;
  if (!known.some(({ newest }) => snapshotOf(newest.metadata, day) !== undefined)) return;
  const night = await readNight(lake, nightOn(facts.pattern, day));
  if (night !== undefined && refusalOf(night) === undefined) await publishNight(lake, night, facts);
}

/**
 * Removes what tables do not need any more: versions beyond the last 100, lists and manifests that the newest version does not name. What
 * another process may be about to name stays: lists of versions that are to come, and manifests of nights that are complete.
 */
async function removeOrphans(lake: Lake): Promise<void> {
  for (const table of await lakeTables(lake)) {
    const newest = await table.newest();
    if (newest !== undefined) await table.files.remove(await orphansOf(lake, table, newest));
  }
  const made: string[] = [];
  for await (const name of lake.store.names(`${madeFolder}/`)) made.push(`${madeFolder}/${name}`);
  await lake.store.remove(made);
}

async function orphansOf(lake: Lake, table: LakeTable, { version, metadata }: TableVersion): Promise<string[]> {
  const lists = metadata.snapshots.map((each) => lastName(each['manifest-list']));
  const named = new Set(lists);
  for (const list of new Set(lists)) {
    const manifests = readManifestList(await table.files.read(list), list);
    for (const each of manifests) named.add(lastName(each.manifest_path));
  }
  const orphans: string[] = [];
  for (const name of await table.files.names()) {
    if (named.has(name)) continue;
    const old = metadataNames.versionOf(name);
    const listed = metadataNames.versionOfList(name);
    const manifest = metadataNames.manifestOf(name);
    const isOrphan =
      (old !== undefined && old <= version - keptVersions) ||
      (listed !== undefined && listed <= version) ||
      (manifest !== undefined && (await isOrphanManifest(lake, { manifest, metadata, named })));
    if (isOrphan) orphans.push(name);
  }
  return orphans;
}

async function isOrphanManifest(
  lake: Lake,
  {
    manifest: { night, seal, copy },
    metadata,
    named,
  }: { readonly manifest: NamedManifest; readonly metadata: TableMetadata; readonly named: ReadonlySet<string> },
): Promise<boolean> {
  const copies = [...named].flatMap((name) => {
    const other = metadataNames.manifestOf(name);
    return other?.night === night && other.seal === seal ? [other.copy] : [];
  });
  if (copies.length > 0) return copy < Math.max(...copies);
  const pattern = metadata.properties[propertyKeys.pattern] ?? '';
  const complete = await readNight(lake, nightOn(pattern, night));
  return complete?.seal.startsWith(seal) !== true;
}
