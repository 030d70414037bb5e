import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { assetsTable } from '../assets/columns.ts';
import { csvDialectNamed, csvDialects } from '../lib/csv-dialect.ts';
import { codeOf, ExportError } from '../lib/export-error.ts';

/** Formats that assets can be read back from, the best first: raw is the service's own text. */
const readable = ['raw', 'jsonl', 'csv', 'parquet'] as const;
export type ReadableFormat = (typeof readable)[number];

/** The files of a finished export that hold its assets. */
export interface ExportFiles {
  readonly format: ReadableFormat;
  /** Absolute or as the folder was, in the order of the parts. */
  readonly paths: readonly string[];
  readonly layout: FileLayout;
}

/** How the tables of an export are written. */
export interface FileLayout {
  /** What each column of today's assets table is called in the files, in its order. */
  readonly names: readonly string[];
  /** What a bare cell of CSV holds where the value is null. */
  readonly nullText: string;
}

const columnSchema = z.object({ name: z.string(), from: z.string().optional() });

/** What is needed of a manifest (docs/output.md). */
const manifestSchema = z.object({
  files: z.array(z.object({ path: z.string(), format: z.string(), table: z.string(), part: z.number() })),
  tables: z.record(z.string(), z.object({ columns: z.array(columnSchema) })).default({}),
  job: z.record(z.string(), z.unknown()).default({}),
});
type ExportManifest = z.infer<typeof manifestSchema>;

/** The asset files of the export in a folder. @throws {ExportError} `input` when it is no finished export with assets */
export function exportFiles(folder: string): ExportFiles {
  const manifest = readManifest(folder);
  const isEscaped = manifest.job['csv.formulas'] === 'escape';
  for (const format of readable) {
    const mine = manifest.files.filter((file) => file.table === 'assets' && file.format === format);
    if (mine.length === 0 || (format === 'csv' && isEscaped)) continue;
    if (format !== 'raw') requireWhole(folder, manifest);
    const paths = mine.sort((a, b) => a.part - b.part).map((file) => join(folder, file.path));
    return { format, paths, layout: layoutOf(manifest) };
  }
  throw new ExportError(
    'input',
    `the export in ${folder} has neither raw files nor the assets table${isEscaped ? ', but for CSV changed for spreadsheets' : ''}`,
    {
      todo: 'Export again with --tables assets, or with --format raw.',
    },
  );
}

/** A record is rebuilt from all its columns: an older program may have had fewer, but none may have been left out. */
function requireWhole(folder: string, { job, tables }: ExportManifest): void {
  const excluded: unknown = job['output.exclude'];
  const isChosen = Array.isArray(job['output.columns']) || (Array.isArray(excluded) && excluded.length > 0);
  if (!isChosen) return;
  const kept = new Set(tables['assets']?.columns.map(({ name, from }) => from ?? name));
  const left = assetsTable.columns.map(({ name }) => name).filter((name) => !kept.has(name));
  if (left.length === 0) return;
  throw new ExportError(
    'input',
    `the assets of ${folder} cannot be rebuilt: its job left out ${left.slice(0, 3).join(', ')}${left.length > 3 ? ` and ${left.length - 3} more columns` : ''}`,
    { todo: 'Export again with --format raw, or without output.columns and output.exclude.' },
  );
}

function layoutOf({ tables, job }: ExportManifest): FileLayout {
  const columns = tables['assets']?.columns ?? [];
  const names = assetsTable.columns.map(({ name }) => columns.find(({ from }) => from === name)?.name ?? name);
  return { names, nullText: csvDialects[csvDialectNamed(job['csv.dialect'])].nullText };
}

function readManifest(folder: string): ExportManifest {
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
