import { z } from 'zod';
import { currentEncoding } from '../../core/records/table.ts';
import { ExportError } from '../../lib/export-error.ts';

/** What became of ids: `read = exported + carried + missing + invalid + duplicate + failed` in every committed part. */
export const countsSchema = z.object({
  read: z.number(),
  exported: z.number(),
  /** Rows taken from the export that this one is based on; 0 without a base. */
  carried: z.number(),
  missing: z.number(),
  invalid: z.number(),
  duplicate: z.number(),
  failed: z.number(),
});

export const inputSchema = z.object({ name: z.string(), bytes: z.number(), sha256: z.string() });

/** The job's fields that decide what the files hold, by their path in a job file (`output.rowsPerPart`). */
export const jobShapeSchema = z.record(z.string(), z.unknown());

/** A path within an export: whoever reads or removes what a manifest names stays in its folder. */
const pathWithin = z
  .string()
  .refine((path) => !/^[a-z]:|\\/i.test(path) && path.split('/').every((name) => !['', '.', '..'].includes(name)), {
    error: ({ input }) => `it names the file ${JSON.stringify(input)}, which is not within the export`,
  });

/** The name of a folder, without a way to another one. */
export const folderName = z.string().refine((name) => !/[/\\]/.test(name) && name !== '.' && name !== '..', {
  error: ({ input }) => `it names the folder ${JSON.stringify(input)}, which is not a name`,
});

export const fileSchema = z.object({
  /** Relative to the export, with forward slashes. */
  path: pathWithin,
  /** `parquet`, `csv`, …; `unexported` files are CSV. */
  format: z.string(),
  table: z.string(),
  part: z.number(),
  rows: z.number(),
  bytes: z.number(),
  sha256: z.string(),
});

export const driftSchema = z.object({
  path: z.string(),
  kind: z.enum(['misfit', 'unknownField', 'unknownValue']),
  count: z.number(),
  sampleId: z.string(),
});

/** Things worth telling that are no error, summed over parts. */
export const notesSchema = z.object({
  /** CSV cells that a spreadsheet would run as a formula. */
  formulaCells: z.number(),
  /** String cells in which a lone surrogate became U+FFFD. */
  replacedSurrogates: z.number(),
  /** Records in answers that were not requested, came twice, or had no id. */
  foreignRecords: z.number(),
  repeatedRecords: z.number(),
  recordsWithoutId: z.number(),
  /** Answers that carried another JSON-RPC id than their call. */
  otherResponseIds: z.number(),
});

/** Of exports with `output.proofs`: rows that have a verdict, those with one that is false, and how often each is false. */
export const proofsSchema = z.object({
  checked: z.number(),
  unproven: z.number(),
  creators: z.number(),
  metadata: z.number(),
  leaf: z.number(),
});

const refreshSchema = z.object({
  asked: z.array(z.number()),
  changed: z.array(z.number()),
  lost: z.number(),
});

/** A committed part: its files are whole, named and synced. */
export const commitSchema = z.object({
  part: z.number(),
  counts: countsSchema,
  files: z.array(fileSchema),
  drift: z.array(driftSchema),
  notes: notesSchema,
  proofs: proofsSchema.optional(),
  /** Bytes of the inputs, as they lie on disk, read when the part ended: for the share that is done. */
  inputBytes: z.number(),
  /** In an export with a base: what was requested again of its rows, by class, and how much of it had changed. */
  refresh: refreshSchema.optional(),
  /** The largest call the service still takes, once it refused a larger one. */
  cap: z.number().optional(),
});

/** What an export began with. */
export const exportStartSchema = z.object({
  job: jobShapeSchema,
  inputs: z.array(inputSchema),
  /** When the export began, in milliseconds since 1970 (UTC). */
  startedAtMs: z.number(),
  /** The export that it is based on, as it was then. */
  base: z.object({ folder: z.string(), name: z.string(), seal: z.string() }).optional(),
});

/** @throws {ExportError} `damaged` for what a version with another encoding wrote @param path names the file in messages */
export function requireEncoding(value: unknown, path: string): void {
  const { data } = z.object({ encoding: z.number() }).safeParse(value);
  if (data === undefined || data.encoding === currentEncoding) return;
  throw new ExportError(
    'damaged',
    `${path} is of encoding ${data.encoding}, and this version reads ${currentEncoding}`,
    {
      todo: 'Use the version of asset-export that wrote it, or export again with --fresh.',
    },
  );
}
