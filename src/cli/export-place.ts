import { resolve } from 'node:path';
import type { Job } from '../core/job/job-schema.ts';
import { environmentName } from '../core/job/job-fields.ts';
import { type AddressUse, requireAddress } from '../lib/addresses/address.ts';
import { isBucketAddress } from '../lib/addresses/address-kinds.ts';
import { systemClock } from '../lib/clock.ts';
import { type ExportPlace, localFolder } from '../core/run/homes/export-place.ts';
import { pathIn } from '../places/export/export-folder.ts';
import { localDisk } from '../places/files/disk.ts';
import type { CommandLine } from './command.ts';
import { jobFlag } from './job-flags.ts';
import { forPeople } from './output/show-error.ts';

/** Flags of commands that read exports in buckets. */
export const bucketFlags = [jobFlag('output.endpoint')];
export const scratchFlag = jobFlag('output.scratch');

/** The absolute path, or the address of a bucket, of an export that a command reads. @throws {ExportError} `usage` */
export function exportAddress(word: string, cwd: string): string {
  const address = absoluteAddress(word, 'export', 'the address of the export', cwd);
  return isBucketAddress(address) ? address.replace(/\/+$/, '') : address;
}

/** The same of any other place; `-` where that is a stream. @param name as a message shows it @throws {ExportError} `usage` */
export function absoluteAddress(text: string, use: AddressUse, name: string, cwd: string): string {
  const address = requireAddress(text, use, name);
  return address === '-' || isBucketAddress(address) ? address : resolve(cwd, address);
}

/**
 * The place that a word of the command line names.
 * @param abort of the program's time of grace, where it has one
 * @throws {ExportError} `usage`
 */
export async function exportPlace(word: string, args: CommandLine, abort?: AbortSignal): Promise<ExportPlace> {
  const folder = exportAddress(word, args.terminal.cwd());
  const { openPlace } = await import('../core/run/homes/open-home.ts');
  const context = { files: localDisk, clock: systemClock, random: Math.random, abort };
  return openPlace(folder, flagOf(args, 'out-endpoint'), context);
}

/** Runs work on a local folder: an export in a bucket is copied to the scratch folder for that time. */
export async function onLocalCopy<T>(
  place: ExportPlace,
  args: CommandLine,
  work: (folder: string) => Promise<T>,
): Promise<T> {
  const { files, folder } = place;
  if (!place.store.isShared) return work(folder);
  const { onCopy } = await import('../exports/copy-export.ts');
  return onCopy({ from: files, folder, disk: localDisk, copies: pathIn(scratchOf(place, args), 'copies') }, work);
}

/** Warns of a repair that was stopped. */
export async function warnOfRepair(place: ExportPlace, { terminal }: CommandLine): Promise<void> {
  const { noteOfRepair } = await import('../core/run/homes/open-home.ts');
  const note = await noteOfRepair(place);
  if (note !== undefined) terminal.stderr.write(`warning: ${forPeople(note, terminal.cwd())}\n`);
}

/** The scratch folder of an export in a bucket. */
export function scratchOf({ folder }: ExportPlace, args: CommandLine): string {
  return localFolder({ output: { dir: folder, scratch: flagOf(args, 'scratch') } });
}

/** What flags and environment say of the bucket of an export that is changed. */
export function bucketOutput(args: CommandLine): Partial<Pick<Job['output'], 'endpoint' | 'scratch'>> {
  const [endpoint, scratch] = [flagOf(args, 'out-endpoint'), flagOf(args, 'scratch')];
  return { ...(endpoint === undefined ? {} : { endpoint }), ...(scratch === undefined ? {} : { scratch }) };
}

/** The same for several paths, those of folders and files as they are. */
export async function onLocalPaths<T>(
  paths: readonly string[],
  args: CommandLine,
  work: (paths: readonly string[]) => Promise<T>,
): Promise<T> {
  const at = paths.findIndex(isBucketAddress);
  if (at < 0) return work(paths);
  const place = await exportPlace(paths[at] ?? '', args);
  return onLocalCopy(place, args, (local) => onLocalPaths(paths.with(at, local), args, work));
}

function flagOf(args: CommandLine, name: string): string | undefined {
  return args.text(name) ?? args.terminal.env[environmentName(name)];
}
