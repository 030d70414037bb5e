import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { z } from 'zod';
import { exitCodes, type ExitName } from '../../src/lib/exit-codes.ts';

const count = z.int().min(0);
const exitNames = Object.keys(exitCodes) as [ExitName, ...ExitName[]];
const flags = z.record(z.string(), z.union([z.string(), z.number(), z.boolean()]));

/** One run of the same command, and how it ends. */
const runSchema = z.strictObject({
  /** A fault file of the folder that rules in this run; `none`; absent: `faults.yaml` when there is one. */
  faults: z.string().optional(),
  /** Flags for this run alone. */
  flags: flags.optional(),
  fresh: z.boolean().optional(),
  /** Text that is put behind a file of the folder before the run, by name. */
  append: z.record(z.string(), z.string()).optional(),
  /** Text that takes the place of a file of the folder before the run, by name. */
  write: z.record(z.string(), z.string()).optional(),
  /** The clock stands so many hours later than at the end of the run before. */
  hoursLater: z.number().optional(),
  exit: z.enum(exitNames),
  state: z.enum(['complete', 'already', 'unfinished']).optional(),
  /** Some of the counts of the account. */
  counts: z.record(z.string(), count).optional(),
  /** HTTP exchanges of this run; `callsAtMost` where their number is a matter of timing. */
  calls: count.optional(),
  callsAtMost: count.optional(),
  /** Credits that the service charged for this run. */
  charged: count.optional(),
  /** What the message says, and what it says can be done. */
  message: z.array(z.string()).optional(),
  todo: z.array(z.string()).optional(),
  /** Reasons that stand in the unexported table. */
  reasons: z.array(z.string()).optional(),
});

const expectedSchema = z.strictObject({
  /** What the case shows, as a sentence in the present tense without its end. */
  about: z.string(),
  /** Flags for every run. */
  flags: flags.optional(),
  /** How the service is set up, beside its faults. */
  service: z
    .strictObject({
      creditsPerDay: count.optional(),
      creditsPerSecond: count.optional(),
      maxIds: count.optional(),
      /** Another address than the service's. */
      url: z.string().optional(),
      /** The service knows another key than the one that is used. */
      otherKey: z.boolean().optional(),
    })
    .optional(),
  /** Whether the tables are the bytes of a run without faults. Default: true when the last run is complete. */
  sameBytes: z.boolean().optional(),
  /** Lines of the raw files are those of the folder's `assets.jsonl`. */
  sameRecords: z.boolean().optional(),
  runs: z.array(runSchema).min(1),
});

export type CaseRun = z.infer<typeof runSchema>;
export type Expected = z.infer<typeof expectedSchema>;

export interface CaseFolder {
  readonly name: string;
  readonly path: string;
  readonly expected: Expected;
}

/** The folder of all cases. What a case does not bring itself (job, ids, assets) lies in it. */
export const casesFolder = fileURLToPath(new URL('.', import.meta.url));

/** Every case, by name. */
export function caseFolders(): CaseFolder[] {
  return readdirSync(casesFolder)
    .filter((name) => statSync(join(casesFolder, name)).isDirectory())
    .map((name) => ({ name, path: join(casesFolder, name), expected: expectedOf(join(casesFolder, name)) }));
}

function expectedOf(path: string): Expected {
  const file = join(path, 'expected.yaml');
  if (!existsSync(file)) throw new Error(`${path} is no case: it has no expected.yaml`);
  try {
    return expectedSchema.parse(parse(readFileSync(file, 'utf8')));
  } catch (error) {
    throw new Error(`${file} is wrong`, { cause: error });
  }
}
