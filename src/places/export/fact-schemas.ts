import { z } from 'zod';
import { currentEncoding } from '../../core/records/table.ts';
import { ExportError } from '../../lib/export-error.ts';

/** How many, or how many bytes. */
export const amount = z.int().min(0);

/** Milliseconds since 1970 that a date can have (ECMAScript, 21.4.1.1). */
export const momentMs = z.int().min(0).max(8.64e15);

/** A text for people, without control characters: it may be shown as it is. */
export const word = z.string().regex(/^\P{Cc}*$/u, 'has a control character');

/** The name of a table or of a column, as `output.rename` takes it. */
export const sqlName = z.string().regex(/^[A-Za-z_]\w{0,62}$/, 'is not a name of letters, digits and _');

/** What became of ids: `read = exported + carried + missing + invalid + duplicate + failed` in every committed part. */
export const countsSchema = z.object({
  read: amount,
  exported: amount,
  /** Rows taken from the export that this one is based on; 0 without a base. */
  carried: amount,
  missing: amount,
  invalid: amount,
  duplicate: amount,
  failed: amount,
});

export const inputSchema = z.object({ name: z.string(), bytes: amount, sha256: z.string() });

/** The job's fields that decide what the files hold, by their path in a job file (`output.rowsPerPart`). */
export const jobShapeSchema = z.record(z.string(), z.unknown());

/** A path within an export: whoever reads or removes what a manifest names stays in its folder. */
const pathWithin = word.refine(
  (path) => !/^[a-z]:|\\/i.test(path) && path.split('/').every((name) => !['', '.', '..'].includes(name)),
  {
    error: ({ input }) => `it names the file ${JSON.stringify(input)}, which is not within the export`,
  },
);

/** The name of a folder, without a way to another one. */
export const folderName = word.refine((name) => !/[/\\]/.test(name) && name !== '.' && name !== '..', {
  error: ({ input }) => `it names the folder ${JSON.stringify(input)}, which is not a name`,
});

export const fileSchema = z.object({
  /** Relative to the export, with forward slashes. */
  path: pathWithin,
  /** `parquet`, `csv`, …; `unexported` files are CSV. */
  format: word,
  table: sqlName,
  part: amount,
  rows: amount,
  bytes: amount,
  sha256: z.string(),
});

export const driftSchema = z.object({
  path: z.string(),
  kind: z.enum(['misfit', 'unknownField', 'unknownValue']),
  count: amount,
  sampleId: z.string(),
});

/** Things worth telling that are no error, summed over parts. */
export const notesSchema = z.object({
  /** CSV cells that a spreadsheet would run as a formula. */
  formulaCells: amount,
  /** String cells in which a lone surrogate became U+FFFD. */
  replacedSurrogates: amount,
  /** Records in answers that were not requested, came twice, or had no id. */
  foreignRecords: amount,
  repeatedRecords: amount,
  recordsWithoutId: amount,
  /** Answers that carried another JSON-RPC id than their call. */
  otherResponseIds: amount,
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
  asked: z.array(amount),
  changed: z.array(amount),
  lost: amount,
});

/** A committed part: its files are whole, named and synced. */
export const commitSchema = z.object({
  part: amount,
  counts: countsSchema,
  files: z.array(fileSchema),
  drift: z.array(driftSchema),
  notes: notesSchema,
  proofs: proofsSchema.optional(),
  /** Bytes of the longest value of each text column (string, json), by table; absent where only raw files were written. */
  maxBytes: z.record(sqlName, z.array(amount)).optional(),
  /** Bytes of the inputs, as they lie on disk, read when the part ended: for the share that is done. */
  inputBytes: amount,
  /** In an export with a base: what was requested again of its rows, by class, and how much of it had changed. */
  refresh: refreshSchema.optional(),
  /** The largest call the service still takes, once it refused a larger one. */
  cap: amount.optional(),
});

/** What an export began with. */
export const exportStartSchema = z.object({
  job: jobShapeSchema,
  inputs: z.array(inputSchema),
  /** When the export began, in milliseconds since 1970 (UTC). */
  startedAtMs: momentMs,
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
