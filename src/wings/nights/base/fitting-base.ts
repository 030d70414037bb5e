import path from 'node:path';
import { noBase } from '../../../core/job/job-base.ts';
import type { Job } from '../../../core/job/job-schema.ts';
import { parentOf } from '../../../lib/addresses/address-kinds.ts';
import { ExportError } from '../../../lib/export-error.ts';
import { contentSeal } from '../../../places/export/content-seal.ts';
import { pathIn } from '../../../places/export/export-folder.ts';
import { type Manifest, readManifest } from '../../../places/export/manifest.ts';
import { type FilesAt, foldersOf, openBaseAt, type OpenBase } from './open-base.ts';

/** The base of a finished export, or why there is none. */
export type FittingBase = { readonly base: OpenBase } | { readonly base: undefined; readonly why: string };

export interface BaseSearch {
  /** The job as the export began. */
  readonly job: Job;
  /** A folder, a glob, or `none`; absent: the base lies beside the export. */
  readonly from: string | undefined;
  /** Where the export lies. */
  readonly folder: string;
  /** As the manifest of the export names it. */
  readonly pinned: Pick<NonNullable<Manifest['base']>, 'name' | 'seal'>;
}

/** Finds the export from which a finished one took rows: its seal has to fit. */
export async function findFittingBase(filesAt: FilesAt, search: BaseSearch): Promise<FittingBase> {
  const { job, from, folder: own, pinned } = search;
  if (from === noBase) return { base: undefined, why: 'The base is not used: base.from is none' };
  const seen: string[] = [];
  for (const folder of await candidates(filesAt, search)) {
    const files = await filesAt(folder);
    const seal = await sealAt(() => readManifest(files, folder));
    if (seal === pinned.seal) return { base: await openBaseAt(files, folder, job) };
    if (seal !== undefined) seen.push(folder);
  }
  const other = seen.find((folder) => folder === from || path.basename(folder) === pinned.name);
  const why =
    other === undefined
      ? `The base ${pinned.name} was not found (${from === undefined ? '' : `${from} or `}beside ${own})`
      : `${other} is not the base ${pinned.name} any more: another export replaced it`;
  return { base: undefined, why };
}

/** Where the base may lie: first what has its name. */
async function candidates(filesAt: FilesAt, { from, folder, pinned }: BaseSearch): Promise<string[]> {
  const beside = pathIn(parentOf(folder), pinned.name);
  const named = from === undefined ? [] : (await foldersOf(filesAt, from)).folders;
  const hasName = (each: string): boolean => path.basename(each) === pinned.name;
  const all = [...named.filter(hasName), beside, ...named.filter((each) => !hasName(each))];
  return [...new Set(all)].filter((each) => each !== folder);
}

/** What an export holds; undefined where none is, or its manifest is damaged. */
async function sealAt(read: () => Promise<Manifest | undefined>): Promise<string | undefined> {
  try {
    const manifest = await read();
    return manifest === undefined ? undefined : contentSeal(manifest);
  } catch (error) {
    if (error instanceof ExportError && error.exit === 'damaged') return '';
    throw error;
  }
}
