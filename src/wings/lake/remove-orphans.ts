import { type Lake, madeFolder, lakeTables } from './lake.ts';
import type { LakeTable, TableVersion } from './lake-table.ts';
import { readManifestList } from './manifest-files.ts';
import { keptVersions } from './next-version.ts';
import { nightOn, readNight } from './root-nights.ts';
import { lastName, metadataNames, type NamedManifest } from './table-files.ts';
import { propertyKeys, type TableMetadata } from './table-metadata.ts';

/**
 * Removes what tables do not need any more: versions beyond the last 100, lists and manifests that the newest version does not name. What
 * another process may be about to name stays: lists of versions that are to come, and manifests of nights that are complete.
 */
export async function removeOrphans(lake: Lake): Promise<void> {
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
