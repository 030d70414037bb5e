import { dateWord, foldersBelowDate } from '../../core/job/night-names.ts';
import { commandLine } from '../../lib/addresses/shown-text.ts';
import { ExportError } from '../../lib/export-error.ts';
import { exportPaths, pathIn } from '../../places/export/export-folder.ts';
import { withoutManifest } from '../../places/export/manifest.ts';
import type { Lake } from './lake.ts';

/**
 * How the complete exports below a root are named, for a lake that has not begun: relative to it, with `{date}`.
 * @throws {ExportError} `unfinished` where none is complete yet, `usage` where there are none, or they are named in several ways
 */
export async function patternOfExports({ place, root }: Pick<Lake, 'place' | 'root'>): Promise<string> {
  const patterns = new Set<string>();
  let begun: string | undefined;
  const visit = async (folder: string, depth: number): Promise<void> => {
    for await (const name of place.store.names(folder)) {
      if (!name.endsWith('/') || name.startsWith('.')) continue;
      const path = `${folder}${name}`;
      const [day] = /\d{4}-\d\d-\d\d/.exec(path) ?? [];
      const isExport = (await place.store.look(`${path}${exportPaths.manifest}`)) !== undefined;
      if (isExport && day !== undefined) patterns.add(path.slice(0, -1).replaceAll(day, dateWord));
      if (!isExport && (await place.store.look(`${path}${exportPaths.start}`)) !== undefined) begun ??= path;
      if (!isExport && day !== undefined && depth < foldersBelowDate) await visit(path, depth + 1);
    }
  };
  await visit('', 1);
  const [pattern, ...others] = [...patterns].sort();
  if (pattern === undefined && begun !== undefined)
    throw await withoutManifest(place.files, pathIn(root, begun.replace(/\/$/, '')));
  if (pattern === undefined) {
    throw new ExportError('usage', `${root} has no complete export whose folder names a day`, {
      todo: 'Name the folder that holds the nights: the part of output.dir before {date}.',
    });
  }
  if (others.length === 0) return pattern;
  throw new ExportError(
    'usage',
    `the exports of ${root} are named in several ways: ${[pattern, ...others].join(', ')}`,
    {
      todo: `A lake follows one: run the job of these nights with --lake iceberg, then ${commandLine('lake', root, '--publish')}.`,
    },
  );
}
