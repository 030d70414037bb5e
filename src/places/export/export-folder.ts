import { basename, join } from 'node:path';
import { isBucketAddress } from '../../lib/addresses/address-kinds.ts';
import type { PartCodec } from '../../core/formats/sink.ts';
import { ExportError } from '../../lib/export-error.ts';
import type { ObjectStore } from '../objects/object-store.ts';

const endings: Readonly<Record<PartCodec, string>> = {
  none: '',
  snappy: '',
  gzip: '.gz',
  zstd: '.zst',
  blocks: '.gz',
};

/** The folder beside nights that holds their Iceberg tables. */
export const lakeFolder = 'lake';
/** Every path of an export, relative to its folder and with forward slashes, as the manifest names them. */
export const exportPaths = {
  manifest: 'manifest.json',
  run: '.run',
  lock: '.run/lock',
  /** Where the owner of the lock can be asked whether it lives. */
  lockSocket: (nonce: string) => `.run/lock.alive.${nonce}`,
  /** What an unfinished export began with. */
  start: '.run/start.json',
  callCount: '.run/calls',
  creditCount: '.run/credits',
  stdin: '.run/stdin-ids',
  /** Ids of buckets. */
  idCopies: '.run/ids',
  /** What every run did and how it ended; kept next to the manifest when the export is complete. */
  runLines: '.run/runs.jsonl',
  keptRunLines: 'runs.jsonl',
  report: 'report.html',
  /** Of a local service: where it counts credits. */
  ledgers: '.run/ledger',
  /** Records of an embedded service that memory does not hold. */
  embedded: '.run/embedded',
  /** Of an export with a base: the ids that are requested, the export of them, and rows of the base that wait. */
  askedIds: '.run/asked-ids',
  asked: '.run/asked',
  /** A copy of it, where that is in a bucket. */
  askedCopy: '.run/asked-copy',
  baseRows: '.run/base-rows',
  /** Of a rebuild: records that are being sorted. */
  sorting: '.run/sorting',
  journals: '.run/journal',
  unfinished: '.run/unfinished',
  throwingAway: '.run/throwing-away',
  /** Where a repair of the export keeps what an unfinished export keeps beside its parts. */
  repair: '.run/repair',
  /** What an unfinished repair began with. */
  repairStart: '.run/repair/.run/start.json',
  /** Files about the tables that are not in the manifest: `verify` knows them and does not check them. */
  companions: ['runs.jsonl', 'report.html'],
  unexported: (part: number) => `unexported/part-${partNumber(part)}.csv`,
  ids: (part: number) => `ids/part-${partNumber(part)}.csv.gz`,
  table: ({
    format,
    table,
    part,
    extension,
    codec,
  }: {
    /** The first folder of its path. */
    readonly format: string;
    readonly table: string;
    readonly part: number;
    /** Ending of the format without a dot. */
    readonly extension: string;
    /** Codec around the whole file; `none` where the format compresses inside. */
    readonly codec: PartCodec;
  }) => `${format}/${table}/part-${partNumber(part)}.${extension}${endings[codec]}`,
  journal: (part: number) => `.run/journal/part-${partNumber(part)}.journal`,
} as const;

/** The absolute path of a name in an export, or its address in a bucket. */
export function pathIn(folder: string, name: string): string {
  if (isBucketAddress(folder)) return name === '' ? folder : `${folder.replace(/\/+$/, '')}/${name}`;
  return join(folder, ...name.split('/'));
}

/** Whether a file is where an export keeps its ids. */
export function isKeptIds(path: string): boolean {
  return /(^|[/\\])ids[/\\]part-\d{5,}\.csv\.gz$/.test(path);
}

/** The format's ending in the name of a part's file: `csv` in `part-00000.csv.gz`; undefined when it is the name of none. */
export function partExtension(fileName: string): string | undefined {
  return /^part-\d{5,}\.([a-z0-9]+?)(\.gz|\.zst)?$/.exec(fileName)?.[1];
}

/** The part that a journal file belongs to, or undefined when it is no journal. */
export function journalPart(fileName: string): number | undefined {
  const [, part] = /^part-(\d{5,})\.journal$/.exec(fileName) ?? [];
  return part === undefined ? undefined : Number(part);
}

function partNumber(part: number): string {
  return String(part).padStart(5, '0');
}

/** What the local service keeps in `.run` before an export begins. */
const ofTheService = [exportPaths.ledgers, exportPaths.embedded];

/** A new volume has this folder. */
const ofTheDisk = 'lost+found/';

/**
 * An export goes into a folder or prefix of its own: among other files its parts would be hard to find, and `--fresh` might take one of them
 * for its own. Files whose names begin with a dot do no harm.
 * @throws {ExportError} `usage` where other files lie and no export
 */
export async function requireExportFolder(store: ObjectStore, address: string): Promise<void> {
  const isComplete = async (): Promise<boolean> => (await store.look(exportPaths.manifest)) !== undefined;
  if (await isComplete()) return;
  for await (const name of store.names(`${exportPaths.run}/`))
    if (!ofTheService.some((kept) => `${exportPaths.run}/${name}`.startsWith(kept))) return;
  const found = await firstFile(store, '', (name) => name.startsWith('.') || name === ofTheDisk);
  // Another process may have completed the export since.
  if (found === undefined || (await isComplete())) return;
  throw new ExportError('usage', `${address} is not an export and not empty: it contains ${found}`, {
    todo: `Choose a new or empty ${store.isShared ? 'prefix' : 'folder'} with --out or output.dir.`,
  });
}

/** The first file below a folder; of an interrupted `--fresh` empty folders are left. */
async function firstFile(
  store: ObjectStore,
  folder: string,
  ignored: (name: string) => boolean = () => false,
): Promise<string | undefined> {
  for await (const name of store.names(folder)) {
    if (ignored(name)) continue;
    if (!name.endsWith('/')) return `${folder}${name}`;
    const below = await firstFile(store, `${folder}${name}`);
    if (below !== undefined) return below;
  }
  return undefined;
}

/** What a manifest calls another export: the name of its folder. @throws {ExportError} `usage` for one with a line break */
export function nameOfExport(folder: string): string {
  const name = basename(folder);
  if (!/\p{Cc}/u.test(name)) return name;
  throw new ExportError('usage', `the name of the folder ${JSON.stringify(folder)} has a control character`, {
    todo: 'Rename the folder.',
  });
}

/** The first member of the account beside a list of `ids`, and what it says. */
export const listKind = 'asset-export ids';
/** What is behind the name of a list that is not proven. */
export const unprovenEnding = '.unproven';
/** What is behind the name of a list, in that of the folder where it is made. */
export const unfinishedEnding = '.ids';

/** Whether a list is not proven, or it is the account of such a list. */
export function isUnproven(file: string): boolean {
  return file.endsWith(unprovenEnding) || file.endsWith(`${unprovenEnding}.json`);
}
