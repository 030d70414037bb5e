import { z } from 'zod';
import { columnTypes, currentEncoding } from '../../core/records/table.ts';
import { printable } from '../../lib/format-text.ts';
import { type ErrorDetail, ExportError } from '../../lib/export-error.ts';
import { commandLine } from '../../lib/addresses/shown-text.ts';
import { sha256 } from '../../lib/hash/sha256.ts';
import {
  amount,
  commitSchema,
  countsSchema,
  driftSchema,
  fileSchema,
  folderName,
  inputSchema,
  jobShapeSchema,
  momentMs,
  notesSchema,
  proofsSchema,
  requireEncoding,
  sqlName,
  word,
} from './fact-schemas.ts';
import type { Begun } from './export-facts.ts';
import { exportPaths, pathIn } from './export-folder.ts';
import { type Disk, type Reads, writeWhole } from '../files/disk.ts';
import { type ObjectStore, readObjectIfThere } from '../objects/object-store.ts';

const manifestVersion = 1;

/** The last member of the file: the SHA-256 of its text with nothing in the quotes. Any changed byte breaks it. */
const seal = /"seal": "([0-9a-f]{64}|)"\n\}\n$/;

const columnSchema = z.object({
  name: sqlName,
  type: z.enum(columnTypes),
  nullable: z.boolean(),
  /** Its name in the column table, where the job gave it another. */
  from: sqlName.optional(),
  /** Bytes of the longest value of a text column. */
  maxBytes: amount.optional(),
});

const namedSchema = z.object({ name: folderName, seal: z.string() });

/** What a diff compared, and what it found. */
const diffSchema = z.object({
  from: namedSchema,
  /** Rows of its tables, by name. */
  to: namedSchema.extend({ rows: z.record(sqlName, amount) }),
  counts: z.object({ inserted: amount, updated: amount, deleted: amount, unchanged: amount }),
  /** Updates by column. */
  columns: z.record(sqlName, amount),
});

const manifestSchema = z.object({
  /** Version of this file's format. */
  version: z.literal(manifestVersion),
  /** Absent for an export of a job. `list`: it keeps the records of a list, as its pages had them. */
  kind: z.enum(['diff', 'list']).optional(),
  /** The program that wrote it. */
  program: z.object({ name: word, version: word }),
  /** How its files are written. */
  encoding: z.literal(currentEncoding),
  job: jobShapeSchema,
  inputs: z.array(inputSchema),
  /** `read = exported + carried + missing + invalid + duplicate + failed`. */
  counts: countsSchema,
  /** Calls sent, and credits that these may have cost, over all runs of this export. */
  calls: amount,
  credits: z.number().min(0).max(Number.MAX_SAFE_INTEGER),
  parts: amount,
  tables: z.record(sqlName, z.object({ rows: amount, columns: z.array(columnSchema) })),
  /** `first` to `last`: the entries of the input, counted from 1, that the file's part covers. */
  files: z.array(fileSchema.extend({ first: amount, last: amount })),
  drift: z.array(driftSchema),
  notes: notesSchema,
  proofs: proofsSchema.optional(),
  /** What each part gave to the sums, in order: it can be made again alone. */
  commits: z.array(
    commitSchema.pick({
      part: true,
      counts: true,
      drift: true,
      notes: true,
      proofs: true,
      maxBytes: true,
      refresh: true,
    }),
  ),
  /** The export that rows were taken from, and what was requested again. */
  base: z
    .object({
      name: folderName,
      /** Names what it holds (`contentSeal`). */
      seal: z.string(),
      asked: z.object({
        new: amount,
        failed: amount,
        missing: amount,
        stale: amount,
      }),
      /** Stale rows and missing ids that `base.maxCredits` left out. */
      overdue: amount,
      /** Requested rows of the base that the service does not know now. */
      lost: amount,
      /** Rows of the base, and those of them whose ids are not listed now. */
      rows: amount,
      unlisted: amount,
      classes: z.array(z.object({ when: z.array(word), rows: amount, asked: amount, changed: amount })),
    })
    .optional(),
  /** The export whose records were written anew, by what it holds (`contentSeal`). */
  rebuilt: z.object({ seal: z.string() }).optional(),
  /** The columns of `assets` by which all rows are sorted, `id` last: the parts do not hold the rows of their entries. */
  sorted: z.array(sqlName).optional(),
  /** When the export began, in milliseconds since 1970 (UTC). Older versions left it out where no column held it. */
  startedAtMs: momentMs.optional(),
  /** Of a diff. */
  diff: diffSchema.optional(),
  /** How the service was spoken to, where that was not the specification's way. */
  dialect: word.optional(),
  /** Too many rows of the base were not listed (`tolerance.maxUnlisted`): `latest` and patterns of bases pass it by. */
  setAside: z.literal('unlisted').optional(),
});

/** The final account of an export. Its presence says that the export is complete. Its only time is the start; it holds no key or address. */
export type Manifest = z.infer<typeof manifestSchema>;

/** What is new of it. */
export type NewManifest = Omit<Manifest, 'version' | 'encoding'>;

/**
 * Reads the manifest, or undefined when the export is not complete.
 * @throws {ExportError} `damaged` when any byte is not as it was written, or another version wrote it
 */
export async function readManifest(files: Reads, folder: string): Promise<Manifest | undefined> {
  const path = pathIn(folder, exportPaths.manifest);
  if ((await files.sizeOf(path)) === 'folder') throw damaged(path, 'it is a folder');
  const content = await files.readAll(path);
  return content === undefined ? undefined : parseManifest(content, path);
}

/** Why there is no complete export: `unfinished` where one was begun, `usage` where none was. */
export async function withoutManifest(files: Reads, folder: string): Promise<ExportError> {
  if ((await files.sizeOf(pathIn(folder, exportPaths.start))) !== undefined) {
    return new ExportError('unfinished', `${folder} is not finished: it has no manifest yet`, {
      todo: `To finish it, run its job again. How far it is: ${commandLine('status', folder)}`,
    });
  }
  const size = await files.sizeOf(folder);
  const found =
    size === undefined ? 'does not exist' : size === 'folder' ? 'has neither a manifest nor a start' : 'is a file';
  return new ExportError('usage', `${folder} is not an export: it ${found}`, {
    todo: 'Name the output folder of an export (--out, output.dir).',
  });
}

/** @param path names the manifest in messages. @throws {ExportError} `damaged` */
export function parseManifest(content: Uint8Array, path: string): Manifest {
  const value = jsonOf(content);
  const version = z.object({ version: z.number() }).safeParse(value);
  if (version.success && version.data.version > manifestVersion) {
    throw new ExportError('damaged', `${path} was written by a newer version (format ${version.data.version})`, {
      todo: 'Update asset-export.',
    });
  }
  requireEncoding(value, path);
  const manifest = manifestSchema.safeParse(value);
  if (!manifest.success) {
    const outside = manifest.error.issues.find(({ code }) => code === 'custom');
    if (outside !== undefined) throw damaged(path, outside.message, { kind: 'outside' });
    const [issue] = manifest.error.issues;
    const field = printable(issue?.path.join('.') ?? '');
    throw damaged(path, `it is not an export manifest (${field}: ${issue?.message ?? ''})`);
  }
  if (!isSealed(content)) throw damaged(path, 'it was changed after it was written');
  if (manifest.data.job['output.nested'] === true) {
    throw new ExportError('usage', `${path} is of an export with lists of structs, which are no longer read`, {
      todo: 'Export its ids again.',
    });
  }
  return manifest.data;
}

/** The manifest of a complete export in a store; undefined for any other. @throws {ExportError} `damaged` */
export async function readManifestAt({
  store,
  address,
}: {
  readonly store: ObjectStore;
  readonly address: string;
}): Promise<Manifest | undefined> {
  const name = exportPaths.manifest;
  const bytes = await readObjectIfThere(store, name);
  return bytes === undefined ? undefined : parseManifest(bytes, `${address}/${name}`);
}

/** How the export of a manifest began: for who makes files of it again. */
export function begunOf({ startedAtMs = 0 }: Pick<Manifest, 'startedAtMs'>): Begun {
  return { startedAtMs };
}

/** Reads a manifest that was just written. @throws {ExportError} `cannotWrite` when it is gone */
export async function requireManifest(files: Reads, folder: string): Promise<Manifest> {
  const manifest = await readManifest(files, folder);
  if (manifest !== undefined) return manifest;
  throw new ExportError('cannotWrite', `the manifest of ${folder} disappeared after it was written`);
}

/** Paths of the files that belong to a complete export. */
export function knownFiles({ files }: Pick<Manifest, 'files'>): ReadonlySet<string> {
  return new Set([exportPaths.manifest, ...exportPaths.companions, ...files.map(({ path }) => path)]);
}

/** Writes the manifest under its final name, whole and synced. */
export async function writeManifest(files: Disk, folder: string, manifest: NewManifest): Promise<void> {
  const temporary = pathIn(folder, `${exportPaths.unfinished}/${exportPaths.manifest}`);
  await files.makeFolder(pathIn(folder, exportPaths.unfinished));
  const path = pathIn(folder, exportPaths.manifest);
  await writeWhole(files, { path, temporary }, (file) => file.write(manifestBytes(manifest)));
  await files.syncFolder(folder);
}

/** The bytes of the file. */
export function manifestBytes(manifest: NewManifest): Uint8Array {
  // Checked so that members come in the schema's order, whether a part was just made or read from a log.
  const ordered = manifestSchema.parse({ version: manifestVersion, encoding: currentEncoding, ...manifest });
  const text = `${JSON.stringify({ ...ordered, seal: '' }, undefined, 2)}\n`;
  return Buffer.from(text.replace(seal, `"seal": "${sha256(text)}"\n}\n`));
}

/** Whether the bytes are those that were written: the last member says so. */
function isSealed(content: Uint8Array): boolean {
  // As bytes, not as UTF-8, which may read a damaged character as one that stood there before.
  const text = Buffer.from(content).toString('latin1');
  const sum = seal.exec(text)?.[1] ?? '';
  return sha256(Buffer.from(text.replace(seal, '"seal": ""\n}\n'), 'latin1')) === sum;
}

function damaged(path: string, problem: string, why?: ErrorDetail['why']): ExportError {
  return new ExportError('damaged', `${path} is damaged: ${problem}`, {
    todo: 'Restore it from a copy, or export again with --fresh.',
    why,
  });
}

function jsonOf(content: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(content).toString('utf8')) as unknown;
  } catch {
    return undefined;
  }
}

/**
 * Names what an export holds: the SHA-256 of its counts and its files. A repair that restores the bytes leaves it as it is, though the manifest has
 * another seal then.
 */
export function contentSeal({ counts, files }: Pick<Manifest, 'counts' | 'files'>): string {
  const { read, exported, carried, missing, invalid, duplicate, failed } = counts;
  const facts = {
    counts: [read, exported, carried, missing, invalid, duplicate, failed],
    files: files.map(({ path, rows, bytes, sha256 }) => [path, rows, bytes, sha256]),
  };
  return sha256(JSON.stringify(facts));
}
