import { commandLine } from '../../lib/addresses/shown-text.ts';
import { ExportError } from '../../lib/export-error.ts';
import type { PublishedTables } from '../../core/work/published-tables.ts';
import { assetsLast, type Lake, locationOf, movedLake, ownAddress, lakeTables } from './lake.ts';
import { LakeTable, type TableVersion } from './lake-table.ts';
import { parquetCodecOf, type PublishableNight, isComplete, readTableNight, tablesOfNight } from './root-nights.ts';
import { addNight, removeNights, type TableAbout } from './table-changes.ts';
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

/** Publishes a night in all of its tables, `assets` last. @returns whether anything was to be done */
export async function publishNight(lake: Lake, night: PublishableNight, facts: LakeFacts): Promise<boolean> {
  let isNew = false;
  for (const name of assetsLast(tablesOfNight(night))) {
    const table = new LakeTable(lake, name);
    const newest = await table.newest();
    const id = { night: night.day, seal: night.seal };
    isNew ||= newest === undefined || !holdsNight(newest.metadata, id);
    await addNight(
      table,
      { ...id, read: () => readTableNight(night, name, facts.address) },
      aboutOf(name, night, facts),
    );
  }
  await requireStillThere(lake, night);
  return isNew;
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

/** A night that prune removed meanwhile would be named, and not be there. */
async function requireStillThere(lake: Lake, night: PublishableNight): Promise<void> {
  if (await isComplete(lake, night)) return;
  for (const table of (await lakeTables(lake)).reverse()) await removeNights(table, new Set([night.day]));
  throw new ExportError('usage', `${night.finished.folder} was removed while it was published: it is not in the lake`, {
    todo: `See: ${commandLine('lake', lake.root)}`,
  });
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
