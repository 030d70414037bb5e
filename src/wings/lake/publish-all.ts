import { commandLine } from '../../lib/addresses/shown-text.ts';
import { ExportError } from '../../lib/export-error.ts';
import { plural } from '../../lib/format-text.ts';
import { lakeFolder, pathIn } from '../../places/export/export-folder.ts';
import { assetsLast, type Lake } from './lake.ts';
import { patternOfExports } from './lake-pattern.ts';
import { LakeTable } from './lake-table.ts';
import type { TableNight } from './next-version.ts';
import {
  aboutOf,
  begunTables,
  factsOf,
  knownTables,
  type LakeFacts,
  publishNight,
  removedNight,
  requireOwnTables,
} from './publish-nights.ts';
import {
  isComplete,
  completeNights,
  damagedFooters,
  type PublishableNight,
  readNight,
  readTableNight,
  refusalOf,
  repairLine,
  tablesOfNight,
} from './root-nights.ts';
import { rebuildTable } from './table-changes.ts';
import { readersAddress } from './table-files.ts';
import { propertyKeys } from './table-metadata.ts';

/** What became of the nights of a root. Days, the oldest first. */
export interface PublishedNights {
  readonly published: readonly string[];
  /** Sentences about nights that were passed by. */
  readonly notes: readonly string[];
}

/**
 * Publishes every complete night that is missing, in order, also those whose runs ended with exit 3.
 * @param location what readers use for the root, for a lake that begins
 * @throws {ExportError} `usage` for a table of another program, before anything is written
 */
export async function publishAll(lake: Lake, location: string | undefined): Promise<PublishedNights> {
  const known = await knownTables(lake);
  const facts = factsOf(lake, known);
  requireOwnTables(known);
  const given = location === undefined ? undefined : readersAddress(location);
  if (given !== undefined && known.length > 0 && given !== facts.address)
    throw otherLocation(lake, facts, location ?? '');
  const pattern = facts.pattern ?? (await patternOfExports(lake));
  const begun = given === undefined ? facts : { address: given, ownLocation: given };
  const { nights, notes } = await publishable(lake, pattern);
  const published: string[] = [];
  for (const night of nights) {
    const as = await publishNight(lake, night, { ...begun, pattern });
    if (as === 'published') published.push(night.day);
    if (as === 'removed') notes.push(removedNight(lake, night).message);
  }
  return { published, notes };
}

function otherLocation(lake: Lake, facts: LakeFacts, location: string): ExportError {
  return new ExportError('usage', `readers of the lake of ${lake.root} use ${facts.address}`, {
    todo: `To write all addresses anew: ${commandLine('lake', lake.root, '--rebuild', '--location', location, '--yes')}`,
  });
}

/** Complete nights that can be published, the oldest first. */
async function publishable(lake: Lake, pattern: string) {
  const nights: PublishableNight[] = [];
  const notes: string[] = [];
  for (const each of await completeNights(lake, pattern)) {
    const night = await readNight(lake, each);
    const refusal = night && refusalOf(night);
    if (refusal !== undefined) notes.push(refusal.message);
    else if (night !== undefined) nights.push(night);
  }
  return { nights, notes };
}

/** What a rebuild writes. */
export interface RebuildPlan extends PublishedNights {
  readonly address: string;
  readonly tables: readonly string[];
}

/**
 * Writes all tables anew, as their next versions, from the exports that are there. @param location what readers use for the root; by
 * default what was given before, else the root's own address
 * @param isDone false: says what it would write
 * @throws {ExportError} `damaged` where a part of a night is missing or damaged, before anything is written
 */
export async function rebuildLake(
  lake: Lake,
  { location, isDone }: { readonly location: string | undefined; readonly isDone: boolean },
): Promise<RebuildPlan> {
  for (;;) {
    const rebuild = await plannedRebuild(lake, location);
    const { nights, notes, address, tables, pattern } = rebuild;
    // Whoever publishes or removes a night meanwhile had looked at tables that are overwritten.
    const isAsBefore = async (): Promise<boolean> =>
      namesOf((await publishable(lake, pattern)).nights) === namesOf(nights);
    try {
      await writeAnew(lake, rebuild, isDone);
      if (!isDone || (await isAsBefore())) return { published: nights.map(({ day }) => day), notes, address, tables };
    } catch (error) {
      if (await isAsBefore().catch(() => true)) throw error;
    }
  }
}

function namesOf(nights: readonly PublishableNight[]): string {
  return nights.map(({ day, seal }) => `${day} ${seal}`).join('\n');
}

interface PlannedRebuild {
  readonly pattern: string;
  readonly address: string;
  readonly ownLocation: string | undefined;
  readonly nights: readonly PublishableNight[];
  readonly notes: readonly string[];
  readonly tables: readonly string[];
}

async function plannedRebuild(lake: Lake, location: string | undefined): Promise<PlannedRebuild> {
  const begun = await begunTables(lake);
  const properties = begun.properties ?? {};
  const pattern = properties[propertyKeys.pattern] ?? (await patternAnew(lake, begun.names.length > 0));
  const ownLocation = location === undefined ? properties[propertyKeys.location] : readersAddress(location);
  const address = ownLocation ?? readersAddress(lake.root);
  const { nights, notes } = await publishable(lake, pattern);
  const tables = assetsLast([...new Set([...begun.names, ...nights.flatMap(tablesOfNight)])]);
  if (tables.length === 0) {
    throw new ExportError('usage', `${lake.root} has no complete export named ${pattern} that can be published`, {
      todo: `See: ${commandLine('lake', lake.root)}`,
    });
  }
  return { pattern, address, ownLocation, nights, notes, tables };
}

async function writeAnew(lake: Lake, rebuild: PlannedRebuild, isDone: boolean): Promise<void> {
  const { nights, tables, address } = rebuild;
  // The footers of all nights are too many to be kept: they are read again when a table is written.
  await requireWholeParts(rebuild);
  const areThere = async (): Promise<boolean> => {
    for (const night of nights) if (!(await isComplete(lake, night))) return false;
    return true;
  };
  for (const name of isDone ? tables : []) {
    const own: TableNight[] = [];
    for (const night of nights)
      if (tablesOfNight(night).includes(name)) own.push(await readTableNight(night, name, address));
    await rebuildTable(new LakeTable(lake, name), own, aboutOf(name, nights.at(-1), rebuild), areThere);
  }
}

/** So many parts are named. */
const mostParts = 10;

/** @throws {ExportError} `damaged`, with all parts that are missing or damaged, before the first table is written */
async function requireWholeParts({ nights }: Pick<PlannedRebuild, 'nights'>): Promise<void> {
  const damaged: ExportError[] = [];
  const repairs: string[] = [];
  for (const night of nights) {
    const before = damaged.length;
    for (const name of tablesOfNight(night)) damaged.push(...(await damagedFooters(night, name)));
    if (damaged.length > before) repairs.push(repairLine(night));
  }
  if (damaged.length === 0) return;
  const named = damaged.slice(0, mostParts).map(({ message }) => message);
  const more = damaged.length > mostParts ? [plural(damaged.length - mostParts, 'more part')] : [];
  throw new ExportError('damaged', [...named, ...more].join('; '), {
    todo: `Run: ${repairs.join('; ')}. Then run the same command again.`,
    cause: damaged[0],
  });
}

/** How the nights are named where no table says so. @throws {ExportError} `usage` */
async function patternAnew(lake: Lake, isBegun: boolean): Promise<string> {
  try {
    return await patternOfExports(lake);
  } catch (error) {
    if (!isBegun || !(error instanceof ExportError) || error.exit !== 'usage') throw error;
    const folder = pathIn(lake.root, lakeFolder);
    throw new ExportError('usage', `no version of the tables in ${folder} can be read, and ${error.message}`, {
      todo: `Remove ${folder}, which holds no data. The next run with --lake iceberg begins a new lake.`,
      cause: error,
    });
  }
}
