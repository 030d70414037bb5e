import { dayPattern, dateWord } from '../../core/job/night-names.ts';
import { type ColumnFooter, readFooter } from '../../exports/parquet-footer.ts';
import { FinishedExport, type ManifestFile } from '../../exports/finished-export.ts';
import { ExportError } from '../../lib/export-error.ts';
import { commandLine } from '../../lib/addresses/shown-text.ts';
import { contentSeal, readManifest } from '../../places/export/manifest.ts';
import { exportPaths, pathIn } from '../../places/export/export-folder.ts';
import { limitOf } from '../../places/export/export-facts.ts';
import { inTurns } from '../../places/objects/object-store.ts';
import type { Lake } from './lake.ts';
import type { DataFile } from './manifest-files.ts';
import type { TableNight } from './next-version.ts';

/** An export below the root, named as the pattern of the lake names its nights. */
export interface RootNight {
  /** The UTC day in its name. */
  readonly day: string;
  /** Of its folder, relative to the root. */
  readonly name: string;
}

/** A complete export that can be published. */
export interface PublishableNight extends RootNight {
  readonly seal: string;
  readonly finished: FinishedExport;
}

export function nightOn(pattern: string, day: string): RootNight {
  return { day, name: pattern.replaceAll(dateWord, day) };
}

/** Complete exports of a pattern, the oldest first. Only folders are listed. @param pattern relative to the root */
export async function completeNights({ place }: Pick<Lake, 'place'>, pattern: string): Promise<RootNight[]> {
  const first = dayPattern(pattern.split('/')[0] ?? '');
  const found: RootNight[] = [];
  for await (const name of place.store.names('')) {
    const [, day] = name.endsWith('/') ? (first.exec(name.slice(0, -1)) ?? []) : [];
    if (day === undefined) continue;
    const night = nightOn(pattern, day);
    if (await isComplete({ place }, night)) found.push(night);
  }
  return found.sort((a, b) => (a.day < b.day ? -1 : 1));
}

export async function isComplete({ place }: Pick<Lake, 'place'>, { name }: RootNight): Promise<boolean> {
  return (await place.store.look(`${name}/${exportPaths.manifest}`)) !== undefined;
}

/** A night that is complete; undefined for any other. @throws {ExportError} `damaged` */
export async function readNight(
  { place }: Pick<Lake, 'place'>,
  night: RootNight,
): Promise<PublishableNight | undefined> {
  const folder = pathIn(place.folder, night.name);
  const manifest = await readManifest(place.files, folder);
  if (manifest === undefined) return undefined;
  return { ...night, seal: contentSeal(manifest), finished: new FinishedExport(place.files, folder, manifest) };
}

/** Why a complete export is not published, if so. */
export function refusalOf(night: PublishableNight): ExportError | undefined {
  const { manifest, folder } = night.finished;
  const refused = (why: string, todo: string): ExportError =>
    new ExportError('usage', `${folder} is not published in the lake: ${why}`, { todo });
  if (manifest.kind === 'diff') return refused('it is a diff', 'Publish the exports that it compares.');
  if (limitOf(manifest.job) !== undefined) return refused('it holds some of its ids alone', 'Export all ids.');
  if (manifest.setAside !== undefined)
    return refused(
      'it is set aside, for its id list was too short',
      'If the list is whole, run its command again with a larger --max-unlisted.',
    );
  if (!manifest.files.some(({ format }) => format === 'parquet'))
    return refused('it has no Parquet files', `Write them: ${commandLine('rebuild', folder, '--format', 'parquet')}`);
  return undefined;
}

/** Tables of an export that have a schema in the lake. */
export function tablesOfNight({ finished }: Pick<PublishableNight, 'finished'>): string[] {
  return Object.keys(finished.manifest.tables);
}

/**
 * A table of a night, with what the footers of its files say. Files without rows are left out.
 * @param address of the root, for readers
 * @throws {ExportError} `damaged` for a file that is missing or of another size
 */
export async function readTableNight(night: PublishableNight, name: string, address: string): Promise<TableNight> {
  const { finished, day, seal } = night;
  const own = partsOf(finished, name);
  const found = new Map<string, DataFile>();
  await inTurns(own, async ({ path, rows, bytes }) => {
    const columns = await columnsIn(finished, { path, bytes });
    found.set(path, { address: `${address}/${night.name}/${path}`, rows, bytes, columns });
  });
  return {
    table: finished.table(name),
    night: day,
    seal,
    startedAtMs: finished.manifest.startedAtMs,
    files: own.flatMap(({ path }) => found.get(path) ?? []),
  };
}

/** The command that repairs a night. */
export function repairLine({ finished: { folder } }: { readonly finished: Pick<FinishedExport, 'folder'> }): string {
  return commandLine('verify', folder, '--repair');
}

function partsOf({ manifest: { files } }: FinishedExport, name: string): ManifestFile[] {
  return files
    .filter((file) => file.table === name && file.format === 'parquet' && file.rows > 0)
    .sort((a, b) => a.part - b.part);
}

/** What is wrong with the parts of a table of a night, as `readTableNight` would throw it. */
export async function damagedFooters({ finished }: PublishableNight, name: string): Promise<ExportError[]> {
  const damaged: ExportError[] = [];
  await inTurns(partsOf(finished, name), async (part) => {
    try {
      await columnsIn(finished, part);
    } catch (error) {
      if (!(error instanceof ExportError) || error.exit !== 'damaged') throw error;
      damaged.push(error);
    }
  });
  return damaged.sort((a, b) => (a.message < b.message ? -1 : 1));
}

async function columnsIn(
  { files, folder }: FinishedExport,
  { path, bytes }: Pick<ManifestFile, 'path' | 'bytes'>,
): Promise<ColumnFooter[]> {
  const file = pathIn(folder, path);
  try {
    return await readFooter(files, file, bytes);
  } catch (error) {
    if (!(error instanceof ExportError)) throw error;
    const size = await files.sizeOf(file);
    if (size === bytes && error.exit !== 'damaged') throw error;
    const other = size === undefined ? 'does not exist' : `has ${String(size)} bytes, not ${bytes}`;
    throw new ExportError('damaged', size === bytes ? error.message : `${file} ${other}`, {
      todo: `Run: ${repairLine({ finished: { folder } })}. Then run the same command again.`,
      cause: error,
    });
  }
}

/** The codec of the Parquet files of an export, as a job names it. */
export function parquetCodecOf({ finished: { manifest } }: PublishableNight): string {
  const { parquet = 'zstd' } = (manifest.job['output.compression'] ?? {}) as { readonly parquet?: string };
  return parquet;
}
