import type { ExportPlace } from '../../core/run/homes/export-place.ts';
import { type HomeContext, openPlace } from '../../core/run/homes/open-home.ts';
import { commandLine } from '../../lib/addresses/shown-text.ts';
import { ExportError } from '../../lib/export-error.ts';
import { lakeFolder, pathIn } from '../../places/export/export-folder.ts';
import { sharedFolderPlace } from '../../places/files/folder-place.ts';
import { type ObjectStore, storeWithin } from '../../places/objects/object-store.ts';
import type { NightsRoot } from '../../core/run/nights.ts';
import { type LakeStore, LakeTable } from './lake-table.ts';
import { readersAddress } from './table-files.ts';

/** Where bytes are made into a file before they get a name, in a lake that is a folder. */
export const madeFolder = '.new';

/** Iceberg tables beside the nights of a root. */
export interface Lake extends LakeStore {
  readonly place: ExportPlace;
}

/** @throws {ExportError} `usage` for an address that is none */
export async function openLake(root: string, endpoint: string | undefined, context: HomeContext): Promise<Lake> {
  return lakeAt({ place: await openPlace(root, endpoint, context), clock: context.clock });
}

export function lakeAt({ place, clock }: NightsRoot): Lake {
  return { root: place.folder, place, store: storeOf(place), clock };
}

/** The store of `<root>/lake`: several processes may write there at once, in a folder too. */
function storeOf({ disk, folder, store }: ExportPlace): ObjectStore {
  if (disk === undefined) return storeWithin(store, lakeFolder);
  return sharedFolderPlace(disk, pathIn(folder, lakeFolder), madeFolder);
}

/** The tables that are there, `assets` last: a night that is in `assets` is in every table. */
export async function lakeTables(lake: Lake): Promise<LakeTable[]> {
  const names: string[] = [];
  for await (const name of lake.store.names('')) {
    if (name.endsWith('/') && !name.startsWith('.')) names.push(name.slice(0, -1));
  }
  return assetsLast(names).map((name) => new LakeTable(lake, name));
}

/** Names of tables in the order in which they are written. */
export function assetsLast(names: readonly string[]): string[] {
  return [...names].sort((a, b) => Number(a === 'assets') - Number(b === 'assets') || (a < b ? -1 : 1));
}

/** The address of a table for readers, below that of the root. */
export function locationOf(root: string, table: string): string {
  return `${root}/${lakeFolder}/${table}`;
}

/** What readers use for the root, unless the table says otherwise. */
export function ownAddress({ root }: Pick<Lake, 'root'>): string {
  return readersAddress(root);
}

/** `damaged`: the lake was written elsewhere, and has no address of its own. @param location of a table */
export function movedLake({ root }: Pick<Lake, 'root'>, location: string): ExportError {
  const before = location.replace(/\/[^/]+\/[^/]+$/, '');
  return new ExportError('damaged', `the lake of ${root} was written for ${before}: it was moved, or is a copy`, {
    todo: `Write its addresses anew: ${commandLine('lake', root, '--rebuild', '--yes')}`,
  });
}
