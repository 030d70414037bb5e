import { stat } from 'node:fs/promises';
import type { IdInput } from '../id-input.ts';
import type { PreparedInputs } from '../prepare-inputs.ts';
import { entriesLookedAt } from './list-form.ts';
import { readIds, type ReadingRules } from './read-ids.ts';

/** Reads the first entries of an input. @throws {ExportError} `input` when it cannot be read */
export async function firstEntries(
  input: IdInput,
  rules: ReadingRules,
): Promise<{
  /** `entriesLookedAt`, or all where there are fewer. */
  readonly entries: number;
  /** Those of them that are ids, in their order. */
  readonly ids: readonly string[];
}> {
  let entries = 0;
  const ids: string[] = [];
  for await (const { entries: block } of readIds([input], { ...rules, limit: entriesLookedAt })) {
    entries += block.length;
    for (let index = 0; index < block.length; index += 1) {
      if (block.isValid(index)) ids.push(block.at(index).text);
    }
  }
  return { entries, ids };
}

/** The size of an input as it lies on disk or in its bucket. */
export async function bytesOfInput({ bytes, path }: IdInput): Promise<number> {
  return bytes ?? (await stat(path)).size;
}

/** A base58 id is 32 bytes that nothing compresses; its row has something else. */
const leastBytes = 34;

/**
 * About how many entries an input has: what was not looked at takes as many bytes an entry as what was.
 * @param bytes as it lies on disk
 */
export function aboutEntries({ looked, compression }: IdInput, bytes: number): number {
  if (looked?.isWhole === true) return looked.entries;
  const isSeen = looked !== undefined && compression === 'none' && looked.entries > 0;
  return Math.round(bytes / (isSeen ? looked.bytes / looked.entries : leastBytes));
}

/** The same of all inputs. @param limit of entries, where there is one */
export function aboutEntriesIn(
  { inputs, fingerprints }: Pick<PreparedInputs, 'inputs' | 'fingerprints'>,
  limit = Number.POSITIVE_INFINITY,
): number {
  const all = inputs.map((input, index) => aboutEntries(input, fingerprints[index]?.bytes ?? 0));
  return Math.min(
    limit,
    all.reduce((sum, each) => sum + each, 0),
  );
}
