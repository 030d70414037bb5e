import { commandLine } from '../../lib/addresses/shown-text.ts';
import { ExportError } from '../../lib/export-error.ts';
import type { PublishedTables } from '../../core/work/run-observer.ts';
import { assetsLast, type Lake, locationOf, movedLake, ownAddress, lakeTables } from './lake.ts';
import { LakeTable, type TableVersion } from './lake-table.ts';
import type { TableNight } from './next-version.ts';
import { parquetCodecOf, type PublishableNight, isComplete, readTableNight, tablesOfNight } from './root-nights.ts';
import { addNight, holdsAnyOf, removeNights, type TableAbout } from './table-changes.ts';
import { metadataNames } from './table-files.ts';
import { holdsNight, noSnapshot, nightsOf, propertyKeys } from './table-metadata.ts';

/** What the tables of a lake agree on. */
export interface LakeFacts {
  /** How the nights are named, with `{date}`; relative to the root. Undefined for a lake that has not begun. */
  readonly pattern: string | undefined;
  /** What readers use for the root. */
  readonly address: string;
  /** The same, where it was given: else it is that of the root. */
  readonly ownLocation: string | undefined;
}

/** The newest version of each table that is there. */
export interface KnownTable {
  readonly table: LakeTable;
  readonly newest: TableVersion;
}

/** @throws {ExportError} `damaged` */
export async function knownTables(lake: Lake): Promise<KnownTable[]> {
  const known: KnownTable[] = [];
  for (const table of await lakeTables(lake)) {
    const newest = await table.newest();
    if (newest !== undefined) known.push({ table, newest });
  }
  return known;
}

/** The tables that have a version, with the newest that can be read: newer ones may be damaged. */
async function readableTables(lake: Lake) {
  const readable = await Promise.all(
    (await lakeTables(lake)).map(async (table) => ({ table, ...(await table.newestReadable()) })),
  );
  return readable.filter(({ last }) => last > 0);
}

/** Their names, and the properties of the first that can be read. */
export async function begunTables(lake: Lake) {
  const tables = await readableTables(lake);
  const properties = tables.find(({ newest }) => newest !== undefined)?.newest?.metadata.properties;
  return { names: tables.map(({ table }) => table.name), properties };
}

/** Those whose newest version can be read. */
async function wholeTables(lake: Lake): Promise<KnownTable[]> {
  const tables = await readableTables(lake);
  return tables.flatMap(({ table, last, newest }) => (newest?.version === last ? [{ table, newest }] : []));
}

/** @throws {ExportError} `damaged` for a lake that was moved */
export function factsOf(lake: Pick<Lake, 'root'>, known: readonly KnownTable[]): LakeFacts {
  const own = ownAddress(lake);
  const [first] = known;
  const properties = first?.newest.metadata.properties ?? {};
  const ownLocation = properties[propertyKeys.location];
  const address = ownLocation ?? own;
  for (const { table, newest } of known) {
    const { location } = newest.metadata;
    if (location !== locationOf(address, table.name)) throw movedLake(lake, location);
  }
  return { pattern: properties[propertyKeys.pattern], address, ownLocation };
}

/** Before anything is written, in any table. @throws {ExportError} `usage` where another program wrote the newest snapshot */
export function requireOwnTables(known: readonly KnownTable[]): void {
  for (const { table, newest } of known) table.requireOwn(newest);
}

/** @throws {ExportError} `usage` where the lake names its nights in another way */
export function requirePattern({ root }: Pick<Lake, 'root'>, known: string | undefined, pattern: string): void {
  if (known === undefined || known === pattern) return;
  throw new ExportError('usage', `the lake of ${root} has nights named ${known}, and this job names them ${pattern}`, {
    todo: 'Give the job an output folder in another root, or leave out output.lake (--lake none).',
  });
}

/** The nights of the table that is written last: those of all tables. */
export function publishedNights(known: readonly KnownTable[]): readonly string[] {
  const last = known.at(-1);
  return last === undefined ? [] : nightsOf(last.newest.metadata).map(({ night }) => night);
}

/** Publishes a night in all of its tables, `assets` last. One that `prune` removes meanwhile is in none of them. */
export async function publishNight(
  lake: Lake,
  night: PublishableNight,
  facts: LakeFacts,
): Promise<'published' | 'held' | 'removed'> {
  try {
    const isNew = await addToTables(lake, night, facts);
    if (await isComplete(lake, night)) return isNew ? 'published' : 'held';
  } catch (error) {
    if (await isComplete(lake, night).catch(() => true)) throw error;
  }
  // `prune` may have looked for it in the tables before it was there.
  await removeFromAll(lake, new Set([night.day]));
  return 'removed';
}

async function addToTables(lake: Lake, night: PublishableNight, facts: LakeFacts): Promise<boolean> {
  const id = { night: night.day, seal: night.seal };
  const own = assetsLast(tablesOfNight(night));
  const known = await knownTables(lake);
  // Tables of another export that was in its place.
  const others = known.filter(
    ({ table, newest }) => !own.includes(table.name) && holdsAnyOf(newest.metadata, new Set([night.day])),
  );
  const holding = known.filter(({ newest }) => holdsNight(newest.metadata, id)).map(({ table }) => table.name);
  const isThere = (): Promise<boolean> => isComplete(lake, night);
  for (const { table } of others) await removeNights(table, new Set([night.day]));
  for (const name of own) {
    const read = (): Promise<TableNight> => readTableNight(night, name, facts.address);
    await addNight(new LakeTable(lake, name), { ...id, read, isThere }, aboutOf(name, night, facts));
  }
  return others.length > 0 || own.some((name) => !holding.includes(name));
}

/** `assets` goes first: a night that is in `assets` is in every table. */
export async function removeFromAll(lake: Lake, days: ReadonlySet<string>): Promise<void> {
  if (days.size === 0) return;
  for (const table of (await lakeTables(lake)).reverse()) await removeNights(table, days);
}

/** `usage`, where an export went while it was published. */
export function removedNight({ root }: Pick<Lake, 'root'>, { finished: { folder } }: PublishableNight): ExportError {
  return new ExportError('usage', `${folder} was removed while it was published: it is not in the lake`, {
    todo: `See: ${commandLine('lake', root)}`,
  });
}

export function aboutOf(
  name: string,
  night: PublishableNight | undefined,
  { address, ownLocation, pattern }: LakeFacts,
): TableAbout {
  return {
    location: locationOf(address, name),
    ownLocation,
    pattern: pattern ?? '',
    codec: night && parquetCodecOf(night),
  };
}

/** What a catalogue needs to know of the tables. @param damaged what becomes of those that cannot be read */
export async function publishedTables(
  lake: Lake,
  damaged: 'refuse' | 'leave out' = 'refuse',
): Promise<PublishedTables> {
  const known = await (damaged === 'refuse' ? knownTables(lake) : wholeTables(lake));
  return Object.fromEntries(
    known.map(({ table, newest: { version, metadata } }) => {
      const snapshot = metadata['current-snapshot-id'];
      return [
        table.name,
        {
          metadata: `${metadata.location}/metadata/${metadataNames.version(version)}`,
          snapshot: snapshot === noSnapshot ? null : snapshot,
        },
      ];
    }),
  );
}

/** What readers use for the root. @throws {ExportError} `damaged` for a lake that was moved */
export async function addressOfLake(lake: Lake): Promise<string> {
  return factsOf(lake, await knownTables(lake)).address;
}
