import type { z } from 'zod';
import type {
  commitSchema,
  countsSchema,
  exportStartSchema,
  fileSchema,
  jobShapeSchema,
  notesSchema,
  proofsSchema,
} from './fact-schemas.ts';
import type { Reads, Disk, OpenFile } from '../files/disk.ts';
import { exportPaths, pathIn } from './export-folder.ts';
import { count, plural } from '../../lib/format-text.ts';

export type Counts = z.infer<typeof countsSchema>;
export type JobShape = z.infer<typeof jobShapeSchema>;
export type FileFacts = z.infer<typeof fileSchema>;
export type Notes = z.infer<typeof notesSchema>;
export type ProofCounts = z.infer<typeof proofsSchema>;
export type Commit = z.infer<typeof commitSchema>;

/** What an export began with: a later run must bring the same. */
export type ExportStart = z.infer<typeof exportStartSchema>;

/** What the rows and bytes of an export depend on besides its job and its answers. */
export type Begun = Pick<ExportStart, 'startedAtMs'>;

export const noCounts: Counts = { read: 0, exported: 0, carried: 0, missing: 0, invalid: 0, duplicate: 0, failed: 0 };

export const noNotes: Notes = {
  formulaCells: 0,
  replacedSurrogates: 0,
  foreignRecords: 0,
  repeatedRecords: 0,
  recordsWithoutId: 0,
  otherResponseIds: 0,
};

export const noProofs: ProofCounts = { checked: 0, unproven: 0, creators: 0, metadata: 0, leaf: 0 };

/** `470 of 475 compressed assets agree with their hashes (metadata_agrees is false in 5)`. */
export function proofsText({ checked, unproven, ...kinds }: ProofCounts): string {
  const names = { creators: 'creators_agree', metadata: 'metadata_agrees', leaf: 'leaf_agrees' };
  const some = Object.entries(kinds).filter(([, times]) => times > 0);
  const which = some.map(([kind, times]) => `${names[kind as keyof typeof names]} is false in ${count(times)}`);
  const agree = `${count(checked - unproven)} of ${plural(checked, 'compressed asset')} agree with their hashes`;
  return which.length === 0 ? agree : `${agree} (${which.join(', ')})`;
}

/** Adds objects of numbers member by member. */
export function sumOf<T extends Readonly<Record<string, number>>>(zero: T, items: Iterable<T>): T {
  const total: Record<string, number> = { ...zero };
  for (const item of items) for (const [name, value] of Object.entries(item)) total[name] = (total[name] ?? 0) + value;
  return total as T;
}

/** Whether the ids are kept: decided when an export begins. A later run does as that did. */
export const keptField = 'output.keepIds';

/** Whether an export keeps its ids. */
export function keepsIds(shape: JobShape): boolean {
  return shape[keptField] === true;
}

/** Calls sent, and credits that these may have cost, over all runs of an export. */
export interface Spent {
  readonly calls: number;
  readonly credits: number;
}

/** What the runs of an export in a folder spent so far. */
export async function spentIn(files: Reads, folder: string): Promise<Spent> {
  const calls = await readTally(files, pathIn(folder, exportPaths.callCount));
  const credits = await readTally(files, pathIn(folder, exportPaths.creditCount));
  return { calls, credits };
}

export function sumOfSpent(one: Spent, other: Spent): Spent {
  return { calls: one.calls + other.calls, credits: one.credits + other.credits };
}

/** The field of a job that limits an export to its first ids, as its shape names it. */
export const limitField = 'ids.limit';

/** The field of a job that draws a sample of all ids. */
export const sampleField = 'ids.sample';

/** How many ids an export reads at most, or the sample that it draws of them (`1%`, `10000`). */
export type SomeIds = number | string;

/** Undefined for an export of all ids. */
export function limitOf({ [limitField]: limit, [sampleField]: sample }: JobShape): SomeIds | undefined {
  return typeof sample === 'string' ? sample : typeof limit === 'number' ? limit : undefined;
}

/** `the first 1,000 ids only (--limit)`, `sample of 1 % (--sample)`: said in every summary of such an export. */
export function limitText(limit: SomeIds): string {
  if (typeof limit === 'number') return `the first ${plural(limit, 'id')} only (--limit)`;
  return `sample of ${limit.endsWith('%') ? limit.replace('%', ' %') : `about ${plural(Number(limit), 'id')}`} (--sample)`;
}

/** What a count of a sample says of all ids, with its interval of 95 %: `5,210 ± 70`. Undefined where the share is not known. */
export function estimateText(found: number, limit: SomeIds | null): string | undefined {
  const share = typeof limit === 'string' && limit.endsWith('%') ? Number.parseFloat(limit) / 100 : Number.NaN;
  if (Number.isNaN(share)) return undefined;
  return `${count(Math.round(found / share))} ± ${count(Math.ceil((1.96 * Math.sqrt(found * (1 - share))) / share))}`;
}

/**
 * A sum that an export keeps over all its runs: of the calls it sent, of the credits that these may have cost. It is never
 * less than that, whatever ends the process. A loss of power may undo the last seconds; the credit ledger does not
 * forget them.
 */
export interface Tally {
  /**
   * Resolves when the sum on disk includes the amount: awaited before a call is sent. A negative amount takes back what
   * proved too much: the file is corrected once as much is added again, or at the end.
   */
  add(amount: number): Promise<void>;
  total(): number;
  close(): Promise<void>;
}

/** Decimal digits of fixed width: a small write in place, and one that is cut leaves no smaller number. */
const width = 16;

/** The sum in a tally's file; 0 when there is none. */
export async function readTally(files: Reads, path: string): Promise<number> {
  const bytes = await files.readAll(path);
  // A loss of power can leave other bytes than digits.
  const digits = /^\d+/.exec(Buffer.from(bytes ?? []).toString('latin1'));
  return digits === null ? 0 : Number(digits[0]);
}

export async function openTally(files: Disk, path: string): Promise<Tally> {
  let total = await readTally(files, path);
  /** What the file holds once the writes under way are done: never less than the sum. */
  let written = total;
  const file = await files.open(path, 'update');
  let turn: Promise<void> = Promise.resolve();
  return {
    add: (amount) => {
      total += amount;
      if (total > written) {
        written = total;
        const text = textOf(total);
        turn = turn.then(() => file.write(Buffer.from(text), 0));
      }
      return turn;
    },
    total: () => total,
    close: async () => {
      // What cannot be taken back stays counted.
      await turn.then(() => lower(file, textOf(written), textOf(total))).catch(() => undefined);
      await file.close();
    },
  };
}

function textOf(sum: number): string {
  return `${String(sum).padStart(width, '0')}\n`;
}

/** The first digit that becomes smaller is written last, alone: whatever is cut leaves no smaller number. */
async function lower(file: OpenFile, from: string, to: string): Promise<void> {
  if (from === to) return;
  let at = 0;
  while (from[at] === to[at]) at += 1;
  await file.write(Buffer.from(to.slice(at + 1)), at + 1);
  await file.write(Buffer.from(to.slice(at, at + 1)), at);
}
