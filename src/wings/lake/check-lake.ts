import { commandLine } from '../../lib/addresses/shown-text.ts';
import { ExportError, messageOf } from '../../lib/export-error.ts';
import { plural } from '../../lib/format-text.ts';
import { pathIn } from '../../places/export/export-folder.ts';
import { inTurns } from '../../places/objects/object-store.ts';
import { assetsLast, type Lake, lakeTables, locationOf, movedLake, ownAddress } from './lake.ts';
import type { LakeTable, TableVersion } from './lake-table.ts';
import { type DataFile, readManifestFiles, readManifestList } from './manifest-files.ts';
import { completeNights, nightOn, type PublishableNight, readNight, refusalOf, tablesOfNight } from './root-nights.ts';
import { lastName } from './table-files.ts';
import {
  currentSnapshot,
  foreignSnapshot,
  nightOf,
  nightsOf,
  propertyKeys,
  type Snapshot,
  type TableMetadata,
} from './table-metadata.ts';

/** Something that does not fit, and the command that fixes it. */
export interface LakeProblem {
  readonly problem: string;
  readonly fix: string;
}

export interface CheckedTable {
  readonly name: string;
  readonly version: number;
  /** Days, the oldest first. */
  readonly nights: readonly string[];
  /** Of the current snapshot. */
  readonly rows: number;
  /** That any snapshot names. */
  readonly files: number;
}

export interface CheckedLake {
  readonly tables: readonly CheckedTable[];
  /** Complete nights that can be published, and are not. */
  readonly unpublished: readonly string[];
  readonly problems: readonly LakeProblem[];
}

/** What is checked, and what was read for it. */
interface Checking {
  readonly lake: Lake;
  readonly nights: Map<string, PublishableNight | undefined>;
  readonly problems: LakeProblem[];
}

/** Compares what the tables name with what is there: files and their sizes, nights and what they hold. */
export async function checkLake(lake: Lake): Promise<CheckedLake> {
  const checking: Checking = { lake, nights: new Map(), problems: [] };
  const tables: CheckedTable[] = [];
  const damaged = new Set<string>();
  let pattern: string | undefined;
  for (const table of await lakeTables(lake)) {
    try {
      const newest = await table.newest();
      if (newest === undefined) continue;
      pattern ??= newest.metadata.properties[propertyKeys.pattern];
      tables.push(await checkTable(checking, table, newest));
    } catch (error) {
      if (!(error instanceof ExportError)) throw error;
      damaged.add(table.name);
      checking.problems.push({ problem: `${table.name}: ${messageOf(error)}`, fix: rebuilding(lake) });
    }
  }
  const published = publishedOf(checking, tables, damaged);
  const unpublished = pattern === undefined ? [] : await missingNights(lake, pattern, published);
  return { tables, unpublished, problems: distinctProblems(checking.problems) };
}

/** A lake that was moved has the same problem in every table. */
function distinctProblems(problems: readonly LakeProblem[]): LakeProblem[] {
  return [...new Map(problems.map((each) => [each.problem, each])).values()];
}

function publishing({ root }: Pick<Lake, 'root'>): string {
  return commandLine('lake', root, '--publish');
}

function rebuilding({ root }: Pick<Lake, 'root'>): string {
  return commandLine('lake', root, '--rebuild', '--yes');
}

/** Nights that are in the last of their tables: they are in every other one, or that is a problem. */
function publishedOf(
  { lake, nights, problems }: Checking,
  tables: readonly CheckedTable[],
  damaged: ReadonlySet<string>,
): string[] {
  const isIn = (name: string, day: string): boolean =>
    damaged.has(name) || tables.some((table) => table.name === name && table.nights.includes(day));
  return (tables.at(-1)?.nights ?? []).filter((day) => {
    const night = nights.get(day);
    const own = night === undefined ? [] : assetsLast(tablesOfNight(night));
    const lacking = own.filter((name) => !isIn(name, day));
    const last = own.at(-1);
    if (last !== undefined && lacking.includes(last)) return false;
    for (const name of lacking)
      problems.push({ problem: `${name}, ${day}: the table lacks this night`, fix: publishing(lake) });
    return true;
  });
}

async function missingNights(lake: Lake, pattern: string, published: readonly string[]): Promise<string[]> {
  const missing: string[] = [];
  for (const night of await completeNights(lake, pattern)) {
    if (published.includes(night.day)) continue;
    const complete = await readNight(lake, night);
    if (complete !== undefined && refusalOf(complete) === undefined) missing.push(night.day);
  }
  return missing;
}

async function checkTable(checking: Checking, table: LakeTable, newest: TableVersion): Promise<CheckedTable> {
  const { lake, problems } = checking;
  const { metadata, version } = newest;
  const address = metadata.properties[propertyKeys.location] ?? ownAddress(lake);
  const files = new Map<string, Pick<DataFile, 'bytes'>>();
  if (foreignSnapshot(metadata) !== undefined)
    problems.push({ problem: `${table.name}: another program wrote the newest snapshot`, fix: rebuilding(lake) });
  else if (metadata.location !== locationOf(address, table.name))
    problems.push({ problem: movedLake(lake, metadata.location).message, fix: rebuilding(lake) });
  else {
    for (const snapshot of metadata.snapshots)
      for (const file of await filesOf(table, snapshot)) files.set(file.address, file);
    await checkNights(checking, table.name, metadata);
    await checkFiles(checking, { name: table.name, address }, files);
  }
  return {
    name: table.name,
    version,
    nights: nightsOf(metadata).map(({ night }) => night),
    rows: Number(currentSnapshot(metadata)?.summary['total-records'] ?? 0),
    files: files.size,
  };
}

async function filesOf(table: LakeTable, snapshot: Snapshot): Promise<Pick<DataFile, 'address' | 'bytes'>[]> {
  const list = lastName(snapshot['manifest-list']);
  const files: Pick<DataFile, 'address' | 'bytes'>[] = [];
  for (const { manifest_path: path } of readManifestList(await table.files.read(list), list)) {
    const name = lastName(path);
    files.push(...readManifestFiles(await table.files.read(name), name));
  }
  return files;
}

async function checkNights({ lake, nights, problems }: Checking, name: string, metadata: TableMetadata): Promise<void> {
  const pattern = metadata.properties[propertyKeys.pattern] ?? '';
  for (const snapshot of metadata.snapshots) {
    const id = nightOf(snapshot);
    if (id === undefined) continue;
    const named = nightOn(pattern, id.night);
    if (!nights.has(id.night)) nights.set(id.night, await readNight(lake, named));
    const night = nights.get(id.night);
    if (night === undefined)
      problems.push({
        problem: `${name}, ${id.night}: there is no complete export ${pathIn(lake.root, named.name)}`,
        fix: rebuilding(lake),
      });
    else if (night.seal !== id.seal)
      problems.push({
        problem: `${name}, ${id.night}: the export holds something else than when it was published`,
        fix: publishing(lake),
      });
  }
}

/** So many files are named. */
const mostNamed = 10;

async function checkFiles(
  { lake, nights, problems }: Checking,
  { name, address }: { readonly name: string; readonly address: string },
  files: ReadonlyMap<string, Pick<DataFile, 'bytes'>>,
): Promise<void> {
  const wrong: LakeProblem[] = [];
  const held = new Map<string, PublishableNight>(
    [...nights.values()].flatMap((night) =>
      night === undefined
        ? []
        : night.finished.manifest.files.map((file) => [`${night.name}/${file.path}`, night] as const),
    ),
  );
  await inTurns([...files], async ([file, { bytes }]) => {
    const path = file.startsWith(`${address}/`) ? file.slice(address.length + 1) : undefined;
    const found = path === undefined ? undefined : await lake.place.store.look(path);
    if (found?.bytes === bytes) return;
    const night = path === undefined ? undefined : held.get(path);
    const fix = night === undefined ? rebuilding(lake) : commandLine('verify', night.finished.folder, '--repair');
    const what = found === undefined ? 'does not exist' : `has ${plural(found.bytes, 'byte')}, not ${bytes}`;
    wrong.push({ problem: `${name}: ${path ?? file} ${what}`, fix });
  });
  wrong.sort((a, b) => (a.problem < b.problem ? -1 : 1));
  problems.push(...wrong.slice(0, mostNamed));
  const more = wrong.length - mostNamed;
  if (more > 0) problems.push({ problem: `${name}: ${plural(more, 'more file')}`, fix: rebuilding(lake) });
}
