import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { codeOf, ExportError } from '../lib/export-error.ts';

/** Formats that assets can be read back from, the best first: raw is the service's own text. */
const readable = ['raw', 'jsonl', 'csv', 'parquet'] as const;
export type ReadableFormat = (typeof readable)[number];

/** The files of a finished export that hold its assets. */
export interface ExportFiles {
  readonly format: ReadableFormat;
  /** Absolute or as the folder was, in the order of the parts. */
  readonly paths: readonly string[];
}

/** What is needed of a manifest (docs/output.md). */
const manifestSchema = z.object({
  files: z.array(z.object({ path: z.string(), format: z.string(), table: z.string(), part: z.number() })),
});

/** The asset files of the export in a folder. @throws {ExportError} `input` when it is no finished export with assets */
export function exportFiles(folder: string): ExportFiles {
  const { files } = readManifest(folder);
  for (const format of readable) {
    const mine = files.filter((file) => file.table === 'assets' && file.format === format);
    if (mine.length === 0) continue;
    const paths = mine.sort((a, b) => a.part - b.part).map((file) => join(folder, file.path));
    return { format, paths };
  }
  throw new ExportError('input', `the export in ${folder} has neither raw files nor the assets table`, {
    todo: 'Export again with --tables assets, or with --format raw.',
  });
}

function readManifest(folder: string): z.infer<typeof manifestSchema> {
  try {
    return manifestSchema.parse(JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8')));
  } catch (error) {
    const why = codeOf(error) === 'ENOENT' ? 'it has no manifest.json' : 'its manifest.json cannot be read';
    throw new ExportError('input', `${folder} is a folder, but no finished export: ${why}`, {
      todo: 'Name JSONL files, or the folder of an export that is complete (asset-export status tells).',
      cause: error,
    });
  }
}
