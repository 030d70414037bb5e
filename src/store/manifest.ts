import { z } from 'zod';
import { ExportError } from '../lib/export-error.ts';
import { countsSchema, driftSchema, fileSchema, inputSchema, jobShapeSchema, notesSchema } from './export-facts.ts';
import { exportPaths, pathIn } from './export-folder.ts';
import type { FileStore } from './file-store.ts';

const manifestVersion = 1;

const columnSchema = z.object({ name: z.string(), type: z.string(), nullable: z.boolean() });

const manifestSchema = z.object({
  /** Version of this file's format. */
  version: z.number(),
  /** The program that wrote it. */
  program: z.object({ name: z.string(), version: z.string() }),
  job: jobShapeSchema,
  inputs: z.array(inputSchema),
  /** `read = exported + missing + invalid + duplicate + failed`. */
  counts: countsSchema,
  /** Calls sent and credits booked for them, over all runs of this export. */
  calls: z.number(),
  credits: z.number(),
  parts: z.number(),
  tables: z.record(z.string(), z.object({ rows: z.number(), columns: z.array(columnSchema) })),
  /** `first` to `last`: the entries of the input, counted from 1, that the file's part covers. */
  files: z.array(fileSchema.extend({ first: z.number(), last: z.number() })),
  drift: z.array(driftSchema),
  notes: notesSchema,
});

/** The final account of an export. Its presence says that the export is complete. It holds no clock, key or address. */
export type Manifest = z.infer<typeof manifestSchema>;

/** Reads the manifest, or undefined when the export is not complete. @throws {ExportError} `damaged` */
export async function readManifest(files: FileStore, folder: string): Promise<Manifest | undefined> {
  const path = pathIn(folder, exportPaths.manifest);
  const content = await files.readAll(path);
  if (content === undefined) return undefined;
  const manifest = manifestSchema.safeParse(jsonOf(content));
  if (manifest.success && manifest.data.version <= manifestVersion) return manifest.data;
  const version = z.object({ version: z.number() }).safeParse(jsonOf(content));
  if (version.success && version.data.version > manifestVersion) {
    throw new ExportError('damaged', `${path} was written by a newer version (format ${version.data.version})`, {
      todo: 'Update asset-export.',
    });
  }
  throw new ExportError('damaged', `${path} is damaged: it is not the manifest of an export`, {
    todo: 'Restore it from a copy, or export again with --fresh.',
  });
}

/** Writes the manifest under its final name, whole and synced. */
export async function writeManifest(
  files: FileStore,
  folder: string,
  manifest: Omit<Manifest, 'version'>,
): Promise<void> {
  const temporary = pathIn(folder, `${exportPaths.unfinished}/${exportPaths.manifest}`);
  await files.makeFolder(pathIn(folder, exportPaths.unfinished));
  const file = await files.open(temporary, 'create');
  await file.write(Buffer.from(`${JSON.stringify({ version: manifestVersion, ...manifest }, undefined, 2)}\n`));
  await file.sync();
  await file.close();
  await files.rename(temporary, pathIn(folder, exportPaths.manifest));
  await files.syncFolder(folder);
}

function jsonOf(content: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(content).toString('utf8')) as unknown;
  } catch {
    return undefined;
  }
}
