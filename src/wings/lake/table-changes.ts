import type { LakeTable, TableVersion } from './lake-table.ts';
import type { TableNight } from './next-version.ts';
import { holdsNight, type NightId, nightsOf, propertyKeys, type TableMetadata } from './table-metadata.ts';

/** What a table is told besides its nights. */
export interface TableAbout {
  /** Where readers find the table. */
  readonly location: string;
  /** What readers use for the root, where that differs from what this program uses. */
  readonly ownLocation: string | undefined;
  /** How the nights are named, with `{date}`. */
  readonly pattern: string;
  /** Of the Parquet files, as a job names it; undefined without a night. */
  readonly codec: string | undefined;
}

/**
 * Adds a night, or puts what it holds now in place of what it held before. Its table is read when it is needed.
 * @throws {ExportError} `usage` where another program writes
 */
export function addNight(
  table: LakeTable,
  night: NightId & { readonly read: () => Promise<TableNight>; readonly isThere?: () => Promise<boolean> },
  about: TableAbout,
): Promise<TableVersion | undefined> {
  let whole: Promise<TableNight> | undefined;
  return table.change({
    location: about.location,
    isDone: (newest) => newest !== undefined && holdsNight(newest.metadata, night),
    isThere: night.isThere,
    make: async (next) => {
      next.set(propertiesOf(about));
      await next.remove(new Set([night.night]), 'nothing');
      whole ??= night.read();
      await next.add(await whole);
    },
  });
}

/** Takes nights away; their files may go after that. */
export function removeNights(table: LakeTable, gone: ReadonlySet<string>): Promise<TableVersion | undefined> {
  return table.change({
    location: '',
    isDone: (newest) => newest === undefined || !holdsAnyOf(newest.metadata, gone),
    make: (next) => next.remove(gone, 'delete'),
  });
}

/** Makes a table anew of these nights, the oldest first, as its next version: its uuid and the ids of its snapshots stay. */
export function rebuildTable(
  table: LakeTable,
  nights: readonly TableNight[],
  about: TableAbout,
  isThere?: () => Promise<boolean>,
): Promise<TableVersion | undefined> {
  return table.change({
    location: about.location,
    takesBack: true,
    isThere,
    isDone: (_, isPut) => isPut,
    make: async (next) => {
      next.forget();
      next.moveTo(about.location);
      next.set(propertiesOf(about));
      for (const night of nights) await next.add(night);
    },
  });
}

/** Whether a table holds one of these nights, under any seal. */
export function holdsAnyOf(metadata: TableMetadata, nights: ReadonlySet<string>): boolean {
  return nightsOf(metadata).some(({ night }) => nights.has(night));
}

function propertiesOf({ ownLocation, pattern, codec }: TableAbout): Record<string, string> {
  return {
    // Else another engine's expire_snapshots or DROP … PURGE would delete parts of exports.
    'gc.enabled': 'false',
    [propertyKeys.pattern]: pattern,
    ...(codec === undefined ? {} : { 'write.parquet.compression-codec': codec === 'none' ? 'uncompressed' : codec }),
    ...(ownLocation === undefined ? {} : { [propertyKeys.location]: ownLocation }),
  };
}
