import { basename, join, relative } from 'node:path';
import { utcDay } from '../../lib/clock.ts';
import { ExportError, messageOf } from '../../lib/export-error.ts';
import { contentSeal } from '../../store/content-seal.ts';
import { exportPaths, pathIn } from '../../store/export-folder.ts';
import type { FileStore } from '../../store/file-store.ts';
import { lockOwner } from '../../store/lock.ts';
import { type Manifest, readManifest } from '../../store/manifest.ts';
import { limitOf } from '../../store/limited.ts';
import { startOfExport } from '../../store/runs/run-record.ts';
import { awaitsRepair } from '../throw-away.ts';
import { verifyExport } from '../verify-export.ts';
import type { DatedNight } from './keep-rules.ts';
import { latestNames } from './point-latest.ts';

/** A complete export among others. */
export interface CompleteNight extends DatedNight {
  readonly bytes: number;
  /** By which an export based on it names it. */
  readonly seals: readonly string[];
}

/** What lies in a folder of exports. Names are relative to it. */
export interface NightsSurvey {
  readonly complete: readonly CompleteNight[];
  /** Exports that are never removed, and why. */
  readonly untouched: readonly { readonly name: string; readonly reason: string }[];
  /** What an interrupted prune left: folders with a mark, and renamed ones. */
  readonly halfRemoved: readonly string[];
  /** What unfinished exports began with: they name the seals of their bases. */
  readonly begun: readonly string[];
  /** The export that the link `latest` leads to. */
  readonly latest: string | undefined;
}

/** A survey in the making. */
export type Found = {
  [K in Exclude<keyof NightsSurvey, 'latest'>]: NightsSurvey[K][number][];
};

/** The mark's content in an export that prune has begun to remove: any run would throw the rest away, too. */
export const pruneMark = Buffer.from('prune\n');

/** Begins the name of a folder that is being removed. */
export const removedPrefix = '.pruned.';

/** @throws {ExportError} `usage` where the folder is an export itself, or is not there */
export async function surveyNights(files: FileStore, top: string): Promise<NightsSurvey> {
  await requireFolder(files, top);
  const found: Found = { complete: [], untouched: [], halfRemoved: [], begun: [] };
  for (const folder of await nightFolders(files, top))
    await look(files, { folder, name: relative(top, folder) }, found);
  const target = await files.readLink(join(top, latestNames.link));
  return { ...found, latest: target === undefined ? undefined : relative(top, join(top, target)) };
}

async function look(files: FileStore, night: { folder: string; name: string }, found: Found): Promise<void> {
  const { folder, name } = night;
  if (basename(folder).startsWith(removedPrefix) || (await isMarked(files, folder))) {
    found.halfRemoved.push(name);
    return;
  }
  const checkpoint = await files.readAll(pathIn(folder, exportPaths.checkpoint));
  const manifest = await readManifest(files, folder).catch((error: unknown) => messageOf(error));
  if (checkpoint !== undefined && typeof manifest !== 'object') found.begun.push(Buffer.from(checkpoint).toString());
  const reason = await reasonToKeep(files, folder, manifest);
  if (reason !== undefined || typeof manifest !== 'object') {
    found.untouched.push({ name, reason: reason ?? 'unfinished' });
    return;
  }
  const day = dayIn(name) ?? (await startDay(files, folder, manifest));
  const content = await files.readAll(pathIn(folder, exportPaths.manifest));
  if (day === undefined) found.untouched.push({ name, reason: 'its day is unknown' });
  else found.complete.push(completeNight({ name, day, manifest, content: content ?? Buffer.of() }));
}

export function dayIn(name: string): string | undefined {
  return /\d{4}-\d\d-\d\d/.exec(name)?.[0];
}

interface ReadNight extends DatedNight {
  readonly manifest: Manifest;
  /** The bytes of its manifest. */
  readonly content: Uint8Array;
}

export function completeNight({ name, day, manifest, content }: ReadNight): CompleteNight {
  const [, seal] = /"seal": "([0-9a-f]{64})"\s*\}\s*$/.exec(Buffer.from(content).toString('latin1')) ?? [];
  const seals = [contentSeal(manifest), ...(seal === undefined ? [] : [seal])];
  return { name, day, bytes: manifest.files.reduce((sum, file) => sum + file.bytes, 0), seals };
}

/** A file in an export that is not its own. Names such as `_SUCCESS` and `.DS_Store` do not count. */
export function strangerAmong(names: readonly string[]): string | undefined {
  return names.find((name) => !/^[._]/.test(name.slice(name.lastIndexOf('/') + 1)));
}

async function reasonToKeep(
  files: FileStore,
  folder: string,
  manifest: Manifest | string | undefined,
): Promise<string | undefined> {
  if ((await lockOwner(folder)) !== undefined) return 'locked by a run';
  if (typeof manifest === 'string') return `damaged: ${manifest}`;
  if (manifest === undefined) return 'unfinished';
  if (manifest.kind === 'diff') return 'a diff';
  if (limitOf(manifest.job) !== undefined) return 'limited to its first ids';
  if (await awaitsRepair(files, folder)) return 'an unfinished repair';
  const { strangers } = await verifyExport(files, folder, { look: async () => undefined });
  const stranger = strangerAmong(strangers);
  return stranger === undefined ? undefined : `holds another file: ${stranger}`;
}

/** The UTC day on which an export began, where that is known. */
async function startDay(files: FileStore, folder: string, manifest: Manifest): Promise<string | undefined> {
  const ms = await startOfExport(files, folder, manifest);
  return ms === undefined ? undefined : utcDay(ms);
}

async function isMarked(files: FileStore, folder: string): Promise<boolean> {
  const mark = await files.readAll(pathIn(folder, exportPaths.throwingAway));
  return mark !== undefined && pruneMark.equals(mark);
}

async function requireFolder(files: FileStore, top: string): Promise<void> {
  const names = await files.list(top);
  if (names.includes(exportPaths.manifest) || names.includes(exportPaths.run)) throw noFolder(top, 'an export');
  if ((await files.sizeOf(top)) !== 'folder') throw noFolder(top, 'not a folder');
}

export function noFolder(top: string, what: string): ExportError {
  return new ExportError('usage', `${top} is ${what}: prune takes a folder of exports`, {
    todo: 'Name the folder that holds the exports of the nights.',
  });
}

/** How deep exports are looked for: `{date}` may stand within a path. */
const mostDepth = 3;

/** The folders below one that hold exports, or what is left of them. Links are not followed. */
async function nightFolders(files: FileStore, top: string, depth = mostDepth): Promise<string[]> {
  const found: string[] = [];
  for (const name of await files.list(top)) {
    const folder = join(top, name);
    if ((await files.readLink(folder)) !== undefined || (await files.sizeOf(folder)) !== 'folder') continue;
    const within = await files.list(folder);
    const isExport = within.includes(exportPaths.manifest) || within.includes(exportPaths.run);
    if (isExport || name.startsWith(removedPrefix)) found.push(folder);
    else if (depth > 1) found.push(...(await nightFolders(files, folder, depth - 1)));
  }
  return found;
}
