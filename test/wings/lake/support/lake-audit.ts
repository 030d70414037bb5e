import type { ObjectStore } from '../../../../src/places/objects/object-store.ts';
import { LakeTable, type TableVersion } from '../../../../src/wings/lake/lake-table.ts';
import { type ListedManifest, readManifestFiles, readManifestList } from '../../../../src/wings/lake/manifest-files.ts';
import { metadataNames } from '../../../../src/wings/lake/table-files.ts';
import { nightOf, nightsOf, type Snapshot, snapshotOf } from '../../../../src/wings/lake/table-metadata.ts';

const lastName = (address: string): string => address.slice(address.lastIndexOf('/') + 1);

/** Addresses of the data files of each night of a table, by its snapshot; the manifests and lists are read for it. */
export async function filesByNight(table: LakeTable, newest: TableVersion): Promise<Map<string, string[]>> {
  const found = new Map<string, string[]>();
  for (const snapshot of newest.metadata.snapshots) {
    const night = nightOf(snapshot)?.night ?? 'removal';
    found.set(night, await filesOfSnapshot(table, snapshot));
  }
  return found;
}

export async function filesOfSnapshot(table: LakeTable, snapshot: Snapshot): Promise<string[]> {
  const files: string[] = [];
  for (const manifest of await manifestsOfSnapshot(table, snapshot)) {
    const name = lastName(manifest.manifest_path);
    const bytes = await table.files.read(name);
    if (bytes.length !== manifest.manifest_length) throw new Error(`${name} has another length than its list says`);
    files.push(...readManifestFiles(bytes, name).map(({ address }) => address));
  }
  return files.sort();
}

export async function manifestsOfSnapshot(table: LakeTable, snapshot: Snapshot): Promise<ListedManifest[]> {
  const name = lastName(snapshot['manifest-list']);
  return readManifestList(await table.files.read(name), name);
}

/** Everything that is wrong with a table: of its versions, its log, its refs, and what these name. */
export async function auditTable(store: ObjectStore, name: string): Promise<string[]> {
  const table = new LakeTable({ root: '', store, clock: { now: () => 0 } }, name);
  const newest = await table.newest();
  if (newest === undefined) return [];
  const problems: string[] = [];
  const names = await table.files.names();
  const versions = names.flatMap((each) => metadataNames.versionOf(each) ?? []).sort((a, b) => a - b);
  const first = versions[0] ?? 1;
  if (versions.some((version, index) => version !== first + index)) problems.push(`versions ${versions.join()}`);
  const uuids = new Set<string>();
  for (const version of versions) {
    const parsed = JSON.parse((await table.files.read(metadataNames.version(version))).toString()) as Record<
      string,
      unknown
    >;
    uuids.add(String(parsed['table-uuid']));
  }
  if (uuids.size !== 1) problems.push(`${uuids.size} uuids`);
  problems.push(...(await auditMetadata(table, newest)));
  return problems.map((problem) => `${name}: ${problem}`);
}

async function auditMetadata(table: LakeTable, { metadata }: TableVersion): Promise<string[]> {
  const problems: string[] = [];
  const nights = nightsOf(metadata).map(({ night }) => night);
  if (new Set(nights).size !== nights.length) problems.push(`nights twice: ${nights.join()}`);
  const ids = metadata.snapshots.map((each) => each['snapshot-id']);
  if (new Set(ids).size !== ids.length) problems.push('a snapshot twice');
  for (const night of nights) {
    const tagged = metadata.refs[night]?.['snapshot-id'];
    if (tagged !== snapshotOf(metadata, night)?.['snapshot-id']) problems.push(`no tag for ${night}`);
  }
  const current = metadata['current-snapshot-id'];
  if (current !== -1 && metadata.refs['main']?.['snapshot-id'] !== current) problems.push('main is not current');
  const log = metadata['snapshot-log'];
  if (current !== -1 && log.at(-1)?.['snapshot-id'] !== current)
    problems.push('the log does not end with the current one');
  for (const [name, ref] of Object.entries(metadata.refs))
    if (!ids.includes(ref['snapshot-id'])) problems.push(`${name} names no snapshot`);
  for (const [index, entry] of log.entries()) {
    if (!ids.includes(entry['snapshot-id'])) problems.push('the log names no snapshot');
    if (index > 0 && entry['timestamp-ms'] <= (log[index - 1]?.['timestamp-ms'] ?? 0))
      problems.push('the log goes back');
  }
  const sequence = metadata.snapshots.map((each) => each['sequence-number']);
  if (Math.max(0, ...sequence) > metadata['last-sequence-number']) problems.push('a sequence number above the last');
  for (const snapshot of metadata.snapshots) await filesOfSnapshot(table, snapshot);
  return problems;
}
