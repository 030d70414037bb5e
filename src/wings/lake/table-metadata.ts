import { z } from 'zod';
import { sha256 } from '../../lib/hash/sha256.ts';
import { ExportError } from '../../lib/export-error.ts';
import type { IcebergSchema } from './iceberg-schema.ts';

/** What a summary says of a snapshot that this program made. */
export const summaryKeys = {
  night: 'asset-export.night',
  seal: 'asset-export.seal',
  startedAt: 'asset-export.started-at',
  /** Nights that a `delete` snapshot took away. */
  removed: 'asset-export.removed',
} as const;

/** Properties of a table that this program reads again. */
export const propertyKeys = {
  location: 'asset-export.location',
  pattern: 'asset-export.pattern',
} as const;

const snapshotSchema = z.looseObject({
  'snapshot-id': z.number(),
  'parent-snapshot-id': z.number().optional(),
  'sequence-number': z.number(),
  'timestamp-ms': z.number(),
  'manifest-list': z.string(),
  'schema-id': z.number().optional(),
  summary: z.record(z.string(), z.string()),
});

export type Snapshot = z.infer<typeof snapshotSchema>;

const logged = z.looseObject({ 'timestamp-ms': z.number(), 'snapshot-id': z.number() });
const ref = z.looseObject({ 'snapshot-id': z.number(), type: z.string() });

const tableMetadataSchema = z.looseObject({
  'format-version': z.number(),
  'table-uuid': z.string(),
  location: z.string(),
  'last-sequence-number': z.number(),
  'last-updated-ms': z.number(),
  'last-column-id': z.number(),
  schemas: z.array(z.custom<IcebergSchema>((value) => typeof value === 'object')),
  'current-schema-id': z.number(),
  properties: z.record(z.string(), z.string()).default({}),
  'current-snapshot-id': z.number().default(-1),
  refs: z.record(z.string(), ref).default({}),
  snapshots: z.array(snapshotSchema).default([]),
  'snapshot-log': z.array(logged).default([]),
  'metadata-log': z.array(z.looseObject({ 'timestamp-ms': z.number(), 'metadata-file': z.string() })).default([]),
});

/** A version of a table (Iceberg's specification, version 2, "Table Metadata"). */
export type TableMetadata = z.infer<typeof tableMetadataSchema>;

/** Stands for the current snapshot of a table that has none. */
export const noSnapshot = -1;

/** @param path names the file in messages. @param todo what a reader of them can do. @throws {ExportError} `damaged` */
export function parseTableMetadata(bytes: Uint8Array, path: string, todo: string): TableMetadata {
  try {
    return tableMetadataSchema.parse(JSON.parse(Buffer.from(bytes).toString('utf8')));
  } catch (error) {
    throw new ExportError('damaged', `${path} is damaged: it is no metadata of an Iceberg table`, {
      todo,
      cause: error,
    });
  }
}

/** A night in a table. */
export interface NightId {
  /** The UTC day in the name of its folder. */
  readonly night: string;
  /** What its export holds (`contentSeal`). Two nights with equal content have equal seals. */
  readonly seal: string;
}

/** 52 bits, so that every reader of JSON keeps it exact. */
export function snapshotIdOf(table: string, { night, seal }: NightId): number {
  return Number(BigInt(`0x${sha256(`${table}\n${night}\n${seal}`).slice(0, 13)}`));
}

/** The night whose snapshot this is; undefined for one that took nights away, and for one by another program. */
export function nightOf({ summary }: Snapshot): NightId | undefined {
  const { [summaryKeys.night]: night, [summaryKeys.seal]: seal } = summary;
  return night === undefined || seal === undefined ? undefined : { night, seal };
}

/** The snapshot of a night. */
export function snapshotOf({ snapshots }: TableMetadata, night: string): Snapshot | undefined {
  return snapshots.find((each) => nightOf(each)?.night === night);
}

/** Nights of a table, the oldest first. */
export function nightsOf({ snapshots }: TableMetadata): NightId[] {
  const nights = snapshots.flatMap((each) => nightOf(each) ?? []);
  return nights.sort((a, b) => (a.night < b.night ? -1 : Number(a.night > b.night)));
}

export function holdsNight(metadata: TableMetadata, { night, seal }: NightId): boolean {
  return nightsOf(metadata).some((each) => each.night === night && each.seal === seal);
}

/** The newest snapshot, where another program wrote it. */
export function foreignSnapshot(metadata: TableMetadata): Snapshot | undefined {
  const newest = lastOf(metadata);
  if (newest === undefined || nightOf(newest) !== undefined) return undefined;
  return newest.summary[summaryKeys.removed] === undefined ? newest : undefined;
}

export function currentSnapshot(metadata: TableMetadata): Snapshot | undefined {
  return metadata.snapshots.find((each) => each['snapshot-id'] === metadata['current-snapshot-id']);
}

/** The snapshot of the newest night. */
export function newestIn(metadata: TableMetadata): Snapshot | undefined {
  const newest = nightsOf(metadata).at(-1);
  return newest && snapshotOf(metadata, newest.night);
}

/** The snapshot that was added last. */
export function lastOf({ snapshots }: TableMetadata): Snapshot | undefined {
  return [...snapshots].sort((a, b) => b['sequence-number'] - a['sequence-number'])[0];
}

/** Entries that are earlier than a later one; a log that is made anew may have others. */
export function inOrder(log: TableMetadata['snapshot-log']): TableMetadata['snapshot-log'] {
  return log.filter((entry, index) =>
    log.slice(index + 1).every((later) => entry['timestamp-ms'] < later['timestamp-ms']),
  );
}
