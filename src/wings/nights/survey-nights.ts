import { dayIn } from '../../core/job/night-names.ts';
import { utcDay } from '../../lib/clock.ts';
import { ExportError, messageOf } from '../../lib/export-error.ts';
import { contentSeal, knownFiles, type Manifest, parseManifest } from '../../places/export/manifest.ts';
import { exportPaths } from '../../places/export/export-folder.ts';
import { limitOf, limitText } from '../../places/export/export-facts.ts';
import type { DatedNight } from './keep-rules.ts';

/** A complete export among others. */
export interface CompleteNight extends DatedNight {
  /** No rule counts it (`Manifest.setAside`). */
  readonly isSetAside: boolean;
  readonly bytes: number;
  /** By which an export based on it names it. */
  readonly seals: readonly string[];
}

/** What lies where exports lie side by side. Names are relative to it. */
export interface NightsSurvey {
  readonly complete: readonly CompleteNight[];
  /** Exports that are never removed, and why. */
  readonly untouched: readonly { readonly name: string; readonly reason: string }[];
  /** What an interrupted prune left: exports with a mark, and renamed folders. */
  readonly halfRemoved: readonly string[];
  /** What unfinished exports began with: they name the seals of their bases. */
  readonly begun: readonly string[];
  /** The export that `latest` names. */
  readonly latest: string | undefined;
}

/** A survey in the making. */
export type SurveyInProgress = {
  [K in Exclude<keyof NightsSurvey, 'latest'>]: NightsSurvey[K][number][];
};

/** One export among others, in a folder or in a bucket. Names are relative to it. */
export interface SeenNight {
  readonly name: string;
  /** All its files, those below `.run` too. */
  readonly own: readonly string[];
  read(name: string): Promise<Uint8Array>;
  /** Whether a process works on it. */
  isHeld(): Promise<boolean>;
}

/** The mark's content in an export that prune has begun to remove: any run would throw the rest away, too. */
export const pruneMark = Buffer.from('prune\n');

/** Begins the name of a folder that is being removed. */
export const removedPrefix = '.pruned.';

/** What a night's folder is named while it is removed. */
export function hiddenName(night: string): string {
  return night.startsWith(removedPrefix) ? night : removedPrefix + night.replaceAll('/', '--');
}

/** Files that say that a folder is an export, wherever it lies. */
export const exportFiles: readonly string[] = [exportPaths.manifest, exportPaths.start, exportPaths.throwingAway];

/** Judges each export by what lies in it: the same for folders and buckets. */
export async function surveyOf(nights: AsyncIterable<SeenNight> | Iterable<SeenNight>): Promise<SurveyInProgress> {
  const found: SurveyInProgress = { complete: [], untouched: [], halfRemoved: [], begun: [] };
  for await (const night of nights) await judge(night, found);
  return found;
}

async function judge(night: SeenNight, found: SurveyInProgress): Promise<void> {
  const { name, own } = night;
  const isMarked =
    own.includes(exportPaths.throwingAway) && pruneMark.equals(await night.read(exportPaths.throwingAway));
  if (isMarked || name.slice(name.lastIndexOf('/') + 1).startsWith(removedPrefix)) {
    found.halfRemoved.push(name);
    return;
  }
  const content = own.includes(exportPaths.manifest) ? await night.read(exportPaths.manifest) : undefined;
  const manifest = content && manifestOf(name, content);
  if (typeof manifest !== 'object' && own.includes(exportPaths.start))
    found.begun.push(Buffer.from(await night.read(exportPaths.start)).toString());
  const reason = await reasonToKeep(night, manifest);
  if (reason !== undefined || content === undefined || typeof manifest !== 'object') {
    found.untouched.push({ name, reason: reason ?? 'unfinished' });
    return;
  }
  const { startedAtMs } = manifest;
  const day = dayIn(name) ?? (startedAtMs === undefined ? undefined : utcDay(startedAtMs));
  if (day === undefined) found.untouched.push({ name, reason: 'its day is unknown' });
  else found.complete.push(completeNight({ name, day }, manifest, content));
}

/** The manifest, or why it is damaged. */
function manifestOf(name: string, content: Uint8Array): Manifest | string {
  try {
    return parseManifest(content, `${name}/${exportPaths.manifest}`);
  } catch (error) {
    if (!(error instanceof ExportError)) throw error;
    return messageOf(error);
  }
}

async function reasonToKeep(night: SeenNight, manifest: Manifest | string | undefined): Promise<string | undefined> {
  const { own } = night;
  if (await night.isHeld()) return 'locked by a run';
  if (typeof manifest === 'string') return `damaged: ${manifest}`;
  if (manifest === undefined) return own.includes(exportPaths.throwingAway) ? 'an unfinished --fresh' : 'unfinished';
  if (manifest.kind === 'diff') return 'a diff';
  if (manifest.kind === 'list') return 'the records of a list';
  const some = limitOf(manifest.job);
  if (some !== undefined) return typeof some === 'number' ? 'limited to its first ids' : limitText(some);
  if (own.includes(exportPaths.repairStart)) return 'an unfinished repair';
  const known = knownFiles(manifest);
  const isOwn = (each: string): boolean => known.has(each) || each.startsWith(`${exportPaths.run}/`);
  const stranger = strangerAmong(own.filter((each) => !isOwn(each)));
  return stranger === undefined ? undefined : `holds another file: ${stranger}`;
}

/** A file in an export that is not its own. Names such as `_SUCCESS` and `.DS_Store` do not count. */
function strangerAmong(names: readonly string[]): string | undefined {
  return names.find((name) => !/^[._]/.test(name.slice(name.lastIndexOf('/') + 1)));
}

/** @param content the bytes of its manifest */
function completeNight({ name, day }: DatedNight, manifest: Manifest, content: Uint8Array): CompleteNight {
  const [, seal] = /"seal": "([0-9a-f]{64})"\s*\}\s*$/.exec(Buffer.from(content).toString('latin1')) ?? [];
  const seals = [contentSeal(manifest), ...(seal === undefined ? [] : [seal])];
  const bytes = manifest.files.reduce((sum, file) => sum + file.bytes, 0);
  return { name, day, bytes, seals, isSetAside: manifest.setAside !== undefined };
}

export function noFolder(top: string, what: string): ExportError {
  return new ExportError('usage', `${top} is ${what}: prune takes a folder of exports`, {
    todo: 'Name the folder that holds the exports of the nights.',
  });
}
