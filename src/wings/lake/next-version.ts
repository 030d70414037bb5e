import { changesTable } from '../../core/records/columns.ts';
import type { Table } from '../../core/records/table.ts';
import { sha256 } from '../../lib/hash/sha256.ts';
import { greatestId, icebergFields, type IcebergSchema, schemaWith } from './iceberg-schema.ts';
import {
  type DataFile,
  type ListedManifest,
  nightManifest,
  nightManifestList,
  readManifestList,
} from './manifest-files.ts';
import { lastName, metadataNames, type TableFiles } from './table-files.ts';
import {
  currentSnapshot,
  inOrder,
  lastOf,
  newestIn,
  nightsOf,
  type NightId,
  nightOf,
  noSnapshot,
  type Snapshot,
  snapshotIdOf,
  summaryKeys,
  type TableMetadata,
} from './table-metadata.ts';

/** A table of a night. */
export interface TableNight extends NightId {
  readonly table: Table;
  readonly files: readonly DataFile[];
  /** When its export began, in milliseconds since 1970. */
  readonly startedAtMs: number | undefined;
}

/** A version of a table in the making. What it names is put at once; the version itself its owner puts. */
export class NextVersion {
  readonly #table: string;
  readonly #files: TableFiles;
  readonly #version: number;
  /** Keeps rows of all nights; other tables hold those of one. */
  readonly #isHistory: boolean;
  /** When the next snapshot is made: each has its own time. */
  #atMs: number;
  #draft: TableMetadata;
  /** When the version before was written. */
  readonly #before: number;
  /** When snapshots were made that are made anew. */
  #madeAtMs: ReadonlyMap<number, number> = new Map();

  constructor({
    table,
    files,
    version,
    before,
    nowMs,
  }: {
    readonly table: string;
    readonly files: TableFiles;
    readonly version: number;
    /** The version before it; of the first one, what a table begins with. */
    readonly before: TableMetadata;
    readonly nowMs: number;
  }) {
    this.#table = table;
    this.#files = files;
    this.#version = version;
    this.#isHistory = table === changesTable.name;
    this.#atMs = Math.max(nowMs, before['last-updated-ms'] + 1);
    this.#before = before['last-updated-ms'];
    this.#draft = structuredClone(before);
  }

  /** Adds a night that is not there. */
  async add(night: TableNight): Promise<void> {
    const draft = this.#draft;
    const before = currentSnapshot(draft);
    const newest = before === undefined ? undefined : nightsOf(draft).at(-1);
    const isLate = newest !== undefined && night.night < newest.night;
    const onMain = this.#isHistory || !isLate;
    const schema = this.#schemaOf(night, isLate);
    const id = snapshotIdOf(this.#table, night);
    const sequenceNumber = draft['last-sequence-number'] + 1;
    const own = night.files.length === 0 ? [] : [await this.#putManifest(night, schema, { id, sequenceNumber })];
    const listed = this.#isHistory ? [...(await this.#manifestsOf(before)), ...own] : own;
    const parentId = onMain ? before?.['snapshot-id'] : undefined;
    const operation = this.#isHistory || parentId === undefined ? 'append' : 'overwrite';
    const snapshot = await this.#putSnapshot(listed, {
      id,
      parentId,
      sequenceNumber,
      seal: night.seal,
      schemaId: schema['schema-id'],
      summary: { operation, ...summaryOf(night), ...totalsOf(listed) },
    });
    draft.refs[night.night] = { 'snapshot-id': id, type: 'tag' };
    this.#push(snapshot, onMain);
  }

  /**
   * Takes nights away, with their tags. Lists of `changes` that hold their rows are made anew, for no snapshot may name a file
   * that is gone. @param leaves a snapshot in `changes` that says so
   */
  async remove(gone: ReadonlySet<string>, leaves: 'delete' | 'nothing'): Promise<void> {
    const draft = this.#draft;
    const isGone = (snapshot: Snapshot): boolean => gone.has(nightOf(snapshot)?.night ?? '');
    const goneIds = new Set(draft.snapshots.filter(isGone).map((each) => each['snapshot-id']));
    if (goneIds.size === 0) return;
    const listed = this.#isHistory ? await this.#manifestsOf(currentSnapshot(draft)) : [];
    const kept = listed.filter((manifest) => !goneIds.has(manifest.added_snapshot_id));
    // Of `changes`, one that took nights away names what is not there any more, too.
    const left = draft.snapshots.filter((each) => !isGone(each) && nightOf(each) !== undefined);
    draft.snapshots = this.#isHistory && kept.length < listed.length ? await this.#listAnew(left, kept) : left;
    const there = new Set(draft.snapshots.map((each) => each['snapshot-id']));
    draft.refs = Object.fromEntries(Object.entries(draft.refs).filter(([, ref]) => there.has(ref['snapshot-id'])));
    const log = draft['snapshot-log'];
    draft['snapshot-log'] = log.slice(log.findLastIndex((each) => !there.has(each['snapshot-id'])) + 1);
    if (this.#isHistory && leaves === 'delete') await this.#addDelete(kept, [...gone]);
    else if (!there.has(draft['current-snapshot-id']))
      this.#point(this.#isHistory ? lastOf(draft) : newestIn(draft), this.#atMs);
  }

  /** Forgets all snapshots; ids and times of those that are made anew stay. */
  forget(): void {
    const draft = this.#draft;
    this.#madeAtMs = new Map(draft.snapshots.map((each) => [each['snapshot-id'], each['timestamp-ms']]));
    this.#draft = { ...draft, snapshots: [], refs: {}, 'snapshot-log': [], 'current-snapshot-id': noSnapshot };
  }

  set(properties: Readonly<Record<string, string>>): void {
    Object.assign(this.#draft.properties, properties);
  }

  moveTo(location: string): void {
    this.#draft.location = location;
  }

  /** The version. @param previous the file of the one before it */
  finish(previous: string | undefined): TableMetadata {
    const draft = this.#draft;
    const log = draft['metadata-log'];
    const entry = { 'timestamp-ms': this.#before, 'metadata-file': previous ?? '' };
    return {
      ...draft,
      'last-updated-ms': this.#atMs,
      'snapshot-log': inOrder(draft['snapshot-log']),
      'metadata-log': previous === undefined ? log : [...log, entry].slice(1 - keptVersions),
    };
  }

  /** Rows of other nights are read with the schema of the newest one. */
  #schemaOf({ table }: TableNight, isLate: boolean): IcebergSchema {
    const draft = this.#draft;
    const current = draft.schemas.find((each) => each['schema-id'] === draft['current-schema-id']);
    const fields = icebergFields(table, current);
    const schema = schemaWith(fields, draft.schemas);
    if (!draft.schemas.includes(schema)) draft.schemas.push(schema);
    draft['last-column-id'] = Math.max(draft['last-column-id'], greatestId(fields));
    if (!isLate) draft['current-schema-id'] = schema['schema-id'];
    return isLate && this.#isHistory && current !== undefined ? current : schema;
  }

  async #putManifest(
    night: TableNight,
    schema: IcebergSchema,
    { id, sequenceNumber }: { readonly id: number; readonly sequenceNumber: number },
  ): Promise<ListedManifest> {
    const bytes = nightManifest(night.files, schema, id);
    const name = await this.#files.putOnce((copy) => metadataNames.manifest(night, copy), bytes);
    return {
      manifest_path: this.#addressOf(name),
      manifest_length: bytes.length,
      sequence_number: sequenceNumber,
      added_snapshot_id: id,
      added_files_count: night.files.length,
      added_rows_count: night.files.reduce((sum, { rows }) => sum + rows, 0),
    };
  }

  async #putSnapshot(
    listed: readonly ListedManifest[],
    made: {
      readonly id: number;
      readonly parentId: number | undefined;
      readonly sequenceNumber: number;
      readonly seal: string;
      readonly schemaId: number;
      readonly summary: Readonly<Record<string, string>>;
    },
  ): Promise<Snapshot> {
    const { id, parentId, sequenceNumber, seal, schemaId, summary } = made;
    return {
      'sequence-number': sequenceNumber,
      'snapshot-id': id,
      ...(parentId === undefined ? {} : { 'parent-snapshot-id': parentId }),
      'timestamp-ms': this.#madeAtMs.get(id) ?? this.#atMs,
      summary,
      'manifest-list': await this.#putList(listed, { snapshotId: id, parentId, sequenceNumber }, seal),
      'schema-id': schemaId,
    };
  }

  async #putList(
    listed: readonly ListedManifest[],
    of: Parameters<typeof nightManifestList>[1],
    seal: string,
  ): Promise<string> {
    const nameOf = (copy: number): string => metadataNames.list(of.snapshotId, this.#version, seal, copy);
    return this.#addressOf(await this.#files.putOnce(nameOf, nightManifestList(listed, of)));
  }

  async #listAnew(snapshots: readonly Snapshot[], kept: readonly ListedManifest[]): Promise<Snapshot[]> {
    const anew: Snapshot[] = [];
    for (const snapshot of snapshots) {
      const own = kept.filter((manifest) => manifest.sequence_number <= snapshot['sequence-number']);
      const of = {
        snapshotId: snapshot['snapshot-id'],
        parentId: snapshot['parent-snapshot-id'],
        sequenceNumber: snapshot['sequence-number'],
      };
      const list = await this.#putList(own, of, nightOf(snapshot)?.seal ?? '');
      anew.push({ ...snapshot, 'manifest-list': list, summary: { ...snapshot.summary, ...totalsOf(own) } });
    }
    return anew;
  }

  async #addDelete(kept: readonly ListedManifest[], gone: readonly string[]): Promise<void> {
    const draft = this.#draft;
    const removed = [...gone].sort().join(',');
    const seal = sha256(removed);
    const snapshot = await this.#putSnapshot(kept, {
      id: snapshotIdOf(this.#table, { night: `removed in ${this.#version}`, seal }),
      parentId: draft.snapshots.some((each) => each['snapshot-id'] === draft['current-snapshot-id'])
        ? draft['current-snapshot-id']
        : lastOf(draft)?.['snapshot-id'],
      sequenceNumber: draft['last-sequence-number'] + 1,
      seal,
      schemaId: draft['current-schema-id'],
      summary: { operation: 'delete', [summaryKeys.removed]: removed, ...totalsOf(kept) },
    });
    this.#push(snapshot, true);
  }

  #push(snapshot: Snapshot, onMain: boolean): void {
    const draft = this.#draft;
    draft.snapshots.push(snapshot);
    draft['last-sequence-number'] = snapshot['sequence-number'];
    draft['last-updated-ms'] = Math.max(draft['last-updated-ms'], snapshot['timestamp-ms']);
    this.#atMs = Math.max(this.#atMs, draft['last-updated-ms'] + 1);
    if (onMain) this.#point(snapshot, snapshot['timestamp-ms']);
  }

  /** Makes a snapshot the current one. */
  #point(snapshot: Snapshot | undefined, atMs: number): void {
    const draft = this.#draft;
    const id = snapshot?.['snapshot-id'] ?? noSnapshot;
    draft['current-snapshot-id'] = id;
    if (snapshot === undefined) {
      draft.refs = Object.fromEntries(Object.entries(draft.refs).filter(([name]) => name !== 'main'));
      return;
    }
    draft.refs['main'] = { 'snapshot-id': id, type: 'branch' };
    draft['snapshot-log'].push({ 'timestamp-ms': atMs, 'snapshot-id': id });
  }

  #addressOf(name: string): string {
    return `${this.#draft.location}/metadata/${name}`;
  }

  async #manifestsOf(snapshot: Snapshot | undefined): Promise<ListedManifest[]> {
    if (snapshot === undefined) return [];
    const name = lastName(snapshot['manifest-list']);
    return readManifestList(await this.#files.read(name), name);
  }
}

/** Versions that are kept: the newest, and those that it names. */
export const keptVersions = 100;

function summaryOf({ night, seal, startedAtMs, files }: TableNight): Record<string, string> {
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  return {
    [summaryKeys.night]: night,
    [summaryKeys.seal]: seal,
    ...(startedAtMs === undefined ? {} : { [summaryKeys.startedAt]: new Date(startedAtMs).toISOString() }),
    'added-data-files': String(files.length),
    'added-records': String(files.reduce((sum, { rows }) => sum + rows, 0)),
    'added-files-size': String(bytes),
  };
}

function totalsOf(listed: readonly ListedManifest[]): Record<string, string> {
  return {
    'total-data-files': String(listed.reduce((sum, each) => sum + each.added_files_count, 0)),
    'total-records': String(listed.reduce((sum, each) => sum + each.added_rows_count, 0)),
    'total-delete-files': '0',
    'total-position-deletes': '0',
    'total-equality-deletes': '0',
  };
}
