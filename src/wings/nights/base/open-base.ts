import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { type FinishedExport, openFinished } from '../../../exports/finished-export.ts';
import { recordFiles } from '../../../exports/records.ts';
import { noBase, familyOf } from '../../../core/job/night-names.ts';
import type { Job } from '../../../core/job/job-schema.ts';
import { isBucketAddress, parentOf } from '../../../lib/addresses/address-kinds.ts';
import type { ExitName } from '../../../lib/exit-codes.ts';
import { ExportError } from '../../../lib/export-error.ts';
import { shownPath } from '../../../lib/addresses/shown-text.ts';
import { exportPaths, nameOfExport, pathIn } from '../../../places/export/export-folder.ts';
import type { Reads } from '../../../places/files/disk.ts';
import { type Manifest, withoutManifest, contentSeal } from '../../../places/export/manifest.ts';
import { latestInFolder, latestNames } from '../point-latest.ts';
import { limitOf, limitText } from '../../../places/export/export-facts.ts';

/** The base of an export, as it was when the export began. */
export interface PinnedBase {
  readonly folder: string;
  readonly name: string;
  /** Names what it holds: a repair leaves it as it is. */
  readonly seal: string;
}

/** An export that rows are taken from. */
export interface OpenBase extends PinnedBase {
  readonly finished: FinishedExport;
  /** When it began, in milliseconds since 1970; undefined where neither it nor the job says so. */
  readonly startedAtMs: number | undefined;
}

/** What to do without a base. Only a pattern may match nothing yet. */
function tellFirst(isPattern: boolean): string {
  const first = isPattern ? '--base-first request (base.first)' : '--base none';
  return `Check base.from. For the first export, which requests everything, use ${first}.`;
}

/** Opens a folder, or the address of a bucket, to be read. */
export type FilesAt = (folder: string) => Promise<Reads>;

/**
 * Finds and pins the base of a job; undefined for the first export of a pattern, which requests everything.
 * @throws {ExportError} `input` when there is none, `usage`, `damaged`
 */
export async function findBase(filesAt: FilesAt, job: Job): Promise<OpenBase | undefined> {
  const { from } = job.base;
  if (from === undefined || from === noBase) return undefined;
  const isPattern = /[*?]/.test(from);
  const { files, folders } = await foldersOf(filesAt, from, job.output.dir);
  for (const folder of folders) {
    if (path.resolve(folder) === path.resolve(job.output.dir)) continue;
    const finished = await finishedUnlessGone(folder, files);
    if (finished !== undefined && !isPassedBy(finished.manifest, isPattern)) return openAt(finished, job);
  }
  if (isPattern && job.base.first === 'request') return undefined;
  const absent = isPattern ? undefined : await withoutManifest(files, folders[0] ?? from);
  if (absent?.exit === 'unfinished') throw absent;
  const why = isPattern ? 'matches no complete export' : 'is not a complete export';
  throw new ExportError('input', `the base ${from} ${why}`, { todo: tellFirst(isPattern) });
}

/** A diff holds changes alone. A list that is not whole, the first ids alone, and the records of a list are no base unless they are named. */
function isPassedBy({ kind, setAside, job }: Manifest, isPattern: boolean): boolean {
  return kind === 'diff' || (isPattern && (kind === 'list' || setAside !== undefined || limitOf(job) !== undefined));
}

/** Opens the base that an export began with. @throws {ExportError} `input` when it is gone or another one */
export async function reopenBase(filesAt: FilesAt, pinned: PinnedBase, job: Job): Promise<OpenBase> {
  const { folder } = pinned;
  const files = await filesAt(folder);
  const finished = await finishedUnlessGone(folder, files);
  if (finished === undefined) throw goneBase(folder);
  const base = openAt(finished, job);
  if (base.seal !== pinned.seal)
    throw new ExportError('input', `the base of this export, ${folder}, was replaced by another export`, restore);
  return base;
}

const restore = { todo: 'Restore it, or start over with --fresh.' };

/** How the removal of a base may look to who reads from it. */
const looksOfRemoval: readonly ExitName[] = ['damaged', 'cannotWrite', 'usage'];

/** What an error means that stopped an export whose base may have been removed meanwhile. */
export async function explainedByBase(error: unknown, { finished, folder }: OpenBase): Promise<unknown> {
  const looksSo = !(error instanceof ExportError) || looksOfRemoval.includes(error.exit);
  return looksSo && (await isGone(finished.files, folder).catch(() => false)) ? goneBase(folder, error) : error;
}

/** Undefined where no complete export is, or none is any more. @throws {ExportError} `damaged` */
async function finishedUnlessGone(folder: string, files: Reads): Promise<FinishedExport | undefined> {
  try {
    return await openFinished(folder, files);
  } catch (error) {
    if (await isGone(files, folder)) return undefined;
    throw error;
  }
}

async function isGone(files: Reads, folder: string): Promise<boolean> {
  return (await files.sizeOf(pathIn(folder, exportPaths.manifest))) === undefined;
}

function goneBase(folder: string, cause?: unknown): ExportError {
  return new ExportError('input', `the base of this export, ${folder}, is gone`, { ...restore, cause });
}

function openAt(finished: FinishedExport, job: Job): OpenBase {
  const { manifest, folder } = finished;
  const shown = shownPath(folder, process.cwd());
  const wrong = (why: string, todo: string): ExportError =>
    new ExportError('usage', `${shown} cannot be the base: ${why}`, { todo });
  if (manifest.sorted !== undefined)
    throw wrong(
      'its assets are sorted, so its parts are not those of its ids',
      'Name the export that it was rebuilt from.',
    );
  const some = limitOf(manifest.job);
  if (typeof some === 'string' && some !== job.ids.sample)
    throw wrong(`it is a ${limitText(some)}`, 'Name a whole export, or draw the same sample.');
  const flags = manifest.job['service.flags'];
  if (flags !== undefined && !isDeepStrictEqual(flags, job.service.flags))
    throw wrong(
      `service.flags were ${JSON.stringify(flags)} there, and are ${JSON.stringify(job.service.flags)} now`,
      'Use the same flags, or start over with --base none.',
    );
  const raw = manifest.files.some(({ format }) => format === 'raw');
  if (job.output.formats.includes('raw') && !raw)
    throw wrong('this job writes raw, and the base has no raw files', 'Leave raw out of output.formats.');
  try {
    recordFiles(finished);
  } catch (error) {
    if (error instanceof ExportError)
      throw new ExportError('usage', error.message, { ...(error.todo === undefined ? {} : { todo: error.todo }) });
    throw error;
  }
  const given = job.base.fetchedAt === undefined ? undefined : Date.parse(job.base.fetchedAt);
  const startedAtMs = manifest.startedAtMs ?? given;
  const hasTimes = finished.tables.get('assets')?.columns.some(({ name }) => name === 'fetched_at') === true;
  if (startedAtMs === undefined && !hasTimes)
    throw wrong('it does not say when its rows were requested', 'Set it with --base-fetched-at TIME.');
  const seal = contentSeal(manifest);
  return { folder, name: nameOfExport(folder), seal, finished, startedAtMs };
}

/** What a pattern names, the last by name first: no links. Where it names this export too, only nights of its family that sort before it. */
export async function foldersOf(
  filesAt: FilesAt,
  pattern: string,
  own?: string,
): Promise<{ readonly files: Reads; readonly folders: readonly string[] }> {
  const isRemote = isBucketAddress(pattern);
  const separator = isRemote ? '/' : path.sep;
  const names = pattern.replace(/\/+$/, '').split(separator);
  const first = names.findIndex((name, at) => /[*?]/.test(name) && (!isRemote || at > 2));
  if (first < 0) {
    const isLatest = names.at(-1) === latestNames.link;
    const top = isLatest ? parentOf(pattern) : pattern;
    const files = await filesAt(top);
    const latest = isLatest ? await latestInFolder(files, top) : undefined;
    return { files, folders: [await followed(files, latest === undefined ? pattern : pathIn(top, latest))] };
  }
  const top = names.slice(0, first).join(separator);
  const root = top === '' ? separator : top;
  const files = await filesAt(root);
  let folders = [root];
  for (const name of names.slice(first)) {
    const next: string[] = [];
    for (const folder of folders)
      for (const each of await matching(files, folder, name)) next.push(pathIn(folder, each));
    folders = next;
  }
  if (own === undefined) return { files, folders };
  const ofNight = expressionOf(names.slice(first).join('/'));
  const nightOf = (folder: string): string =>
    folder
      .split(/[/\\]/)
      .slice(first - names.length)
      .join('/');
  const ownNight = nightOf(own);
  const isEarlier = (folder: string): boolean => {
    const night = nightOf(folder);
    return !ofNight.test(ownNight) || (night < ownNight && familyOf(night) === familyOf(ownNight));
  };
  return { files, folders: folders.filter(isEarlier).sort((one, other) => (one < other ? 1 : -1)) };
}

/** As many links as systems follow. */
const mostLinks = 40;

/** Where a link leads now: later it leads elsewhere. */
async function followed(files: Reads, link: string): Promise<string> {
  let folder = link;
  for (let links = 0; links < mostLinks; links += 1) {
    const target = await files.readLink(folder);
    if (target === undefined) return folder;
    folder = path.resolve(path.dirname(folder), target);
  }
  return folder;
}

/** Whether a name, relative to a folder, fits a pattern. */
export function namesMatching(pattern: string): (name: string) => boolean {
  const expression = expressionOf(pattern);
  return (name) => expression.test(name);
}

function expressionOf(pattern: string): RegExp {
  const text = pattern
    .replaceAll(/[^\w*?]/g, String.raw`\$&`)
    .replaceAll('*', '[^/]*')
    .replaceAll('?', '[^/]');
  return new RegExp(`^${text}$`);
}

/** The names in a folder that fit a pattern. @param pattern without one, that name itself */
async function matching(files: Reads, folder: string, pattern: string): Promise<string[]> {
  if (!/[*?]/.test(pattern)) return [pattern];
  const expression = expressionOf(pattern);
  const names: string[] = [];
  for (const name of await files.list(folder)) {
    if (!expression.test(name) || name.startsWith('.')) continue;
    if ((await files.readLink(pathIn(folder, name))) === undefined) names.push(name);
  }
  return names;
}
