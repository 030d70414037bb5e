import type { z } from 'zod';
import type {
  commitSchema,
  countsSchema,
  exportStartSchema,
  fileSchema,
  jobShapeSchema,
  notesSchema,
} from './fact-schemas.ts';

export type Counts = z.infer<typeof countsSchema>;
export type JobShape = z.infer<typeof jobShapeSchema>;
export type FileFacts = z.infer<typeof fileSchema>;
export type Notes = z.infer<typeof notesSchema>;
export type Commit = z.infer<typeof commitSchema>;

/** What an export began with: a later run must bring the same. */
export type ExportStart = z.infer<typeof exportStartSchema>;

/** What the rows and bytes of an export depend on besides its job and its answers. */
export type Begun = Pick<ExportStart, 'startedAtMs' | 'encoding'>;

export const noCounts: Counts = { read: 0, exported: 0, carried: 0, missing: 0, invalid: 0, duplicate: 0, failed: 0 };

export const noNotes: Notes = {
  formulaCells: 0,
  replacedSurrogates: 0,
  foreignRecords: 0,
  repeatedRecords: 0,
  recordsWithoutId: 0,
  otherResponseIds: 0,
};

/** Adds objects of numbers member by member. */
export function sumOf<T extends Readonly<Record<string, number>>>(zero: T, items: Iterable<T>): T {
  const total: Record<string, number> = { ...zero };
  for (const item of items) for (const [name, value] of Object.entries(item)) total[name] = (total[name] ?? 0) + value;
  return total as T;
}

/** Whether the ids are kept: decided when an export begins. A later run does as that did. */
export const keptField = 'output.keepIds';

/** Whether an export keeps its ids: those of older versions do not. */
export function keepsIds(shape: JobShape): boolean {
  return shape[keptField] === true;
}
