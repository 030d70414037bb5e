import { z } from 'zod';
import { checkYaml, readYaml } from '../load-yaml.ts';

const share = z.number('must be a share from 0 to 1').min(0, 'must be at least 0').max(1, 'must be at most 1');

/** What is wrong with a word of `when`; undefined when nothing is. */
export type WhenProblem = (word: string) => string | undefined;

/** A file of changes: how the records differ from day to day. Shares are of the assets, a day, from 0 to 1. */
export function changesSchema(whenProblem: WhenProblem) {
  const whenWord = z.string().superRefine((word, context) => {
    const message = whenProblem(word);
    if (message !== undefined) context.addIssue({ code: 'custom', message, input: word });
  });
  return z.strictObject({
    seed: z.int().default(0),
    from: z.iso.date('must be a day like 2026-11-20').describe('UTC day until which the records are as loaded'),
    classes: z
      .array(z.strictObject({ when: z.array(whenWord).min(1), share }))
      .default([])
      .describe('the first class whose words all fit a record as loaded decides instead of share'),
    share: share.default(0).describe('assets that change'),
    gone: share.default(0).describe('assets that are no longer known'),
    back: share.default(0).describe('assets that are known again, of those that were gone'),
  });
}

/** How the records differ from day to day, as checked by `changesSchema`. */
export interface Changes {
  readonly seed: number;
  readonly from: string;
  readonly classes: readonly { readonly when: readonly string[]; readonly share: number }[];
  readonly share: number;
  readonly gone: number;
  readonly back: number;
}

/** Reads a file of changes. @throws {ExportError} `usage` when it cannot be read, with the place of what is wrong */
export async function readChanges(path: string, whenProblem: WhenProblem): Promise<Changes> {
  return checkYaml(await readYaml(path, 'file of changes'), { schema: changesSchema(whenProblem), path });
}
