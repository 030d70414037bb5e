import { basename } from 'node:path';
import type { Operation } from './memory-disk.ts';
import type { SmallExport } from './small-export.ts';

/** What an export leaves that nothing disturbs. */
export interface Undisturbed {
  /** The bytes of each published file; of the manifest, what does not tell of the calls. */
  readonly files: ReadonlyMap<string, string>;
  /** What it did to the disk, in order. */
  readonly operations: readonly Operation[];
}

export async function undisturbedRun(small: SmallExport): Promise<Undisturbed> {
  const operations = recordOperations(small);
  const outcome = await small.run();
  if (outcome?.state !== 'complete')
    throw new Error(`The undisturbed run is not complete: ${outcome?.error?.message ?? 'killed'}`);
  const published = [...small.published()].map(([path, inode]) => [path, essence(path, inode.content())] as const);
  return { files: new Map(published), operations };
}

/** Collects what is done to a disk on which nothing goes wrong. */
export function recordOperations({ disk }: SmallExport): readonly Operation[] {
  const operations: Operation[] = [];
  disk.weather = (operation) => {
    operations.push(operation);
    return { kind: 'happens' };
  };
  return operations;
}

/** Published files that are not those of the undisturbed run. */
export function wrongFiles(small: SmallExport, calm: Undisturbed): string[] {
  return [...small.published()]
    .filter(([path, inode]) => essence(path, inode.content()) !== calm.files.get(path))
    .map(([path]) => `${path} is wrong`);
}

/** Collects every moment at which a file under a final name is not whole. */
export function watchPublished(small: SmallExport, calm: Undisturbed): string[] {
  const problems: string[] = [];
  small.disk.onNamed = () => {
    problems.push(...wrongFiles(small, calm));
  };
  return problems;
}

/** What does not depend on how often a run was disturbed. Runs that were send more calls, may begin later, and their manifest says so; all else in it is the same. */
export function essence(path: string, content: Buffer): string {
  if (basename(path) !== 'manifest.json') return content.toString('latin1');
  if (content.length === 0) return 'empty';
  return JSON.stringify({
    ...(JSON.parse(content.toString()) as object),
    calls: 0,
    credits: 0,
    seal: '',
    startedAtMs: 0,
  });
}
