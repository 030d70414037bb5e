import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { codeOf, ExportError, messageOf } from '../lib/export-error.ts';

/**
 * The files that hold the records of these paths: a file is itself; the folder of a finished export stands for its
 * `raw` parts, which hold every record as it was sent.
 * @throws {ExportError} `input` for what is missing, unfinished, or has no such parts.
 */
export function assetFiles(paths: readonly string[]): string[] {
  return paths.flatMap((path) => (isFolder(path) ? rawParts(path) : [path]));
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch (cause) {
    const why = codeOf(cause) === 'ENOENT' ? 'no such file' : messageOf(cause);
    throw new ExportError('input', `cannot read assets from ${path}: ${why}`, { cause });
  }
}

function rawParts(folder: string): string[] {
  if (!existsSync(join(folder, 'manifest.json'))) {
    throw new ExportError('input', `${folder} is not the folder of a finished export: it has no manifest.json`, {
      todo: 'finish the export with the command that began it, or name files',
    });
  }
  const parts = join(folder, 'raw', 'assets');
  if (!existsSync(parts)) {
    throw new ExportError('input', `the export in ${folder} has no raw files to serve records from`, {
      todo: 'export with --format raw too',
    });
  }
  return readdirSync(parts)
    .sort((a, b) => partOf(a) - partOf(b))
    .map((name) => join(parts, name));
}

function partOf(name: string): number {
  return Number(/^part-(\d+)\./.exec(name)?.[1] ?? Number.POSITIVE_INFINITY);
}
