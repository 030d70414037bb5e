import { writeFile } from 'node:fs/promises';
import { generatedId } from '../../packages/practice-service/src/generated/generated-assets.ts';

/** How many of 100 entries are what. */
export interface IdFileShape {
  readonly entries: number;
  readonly seed?: number;
  readonly invalidPercent?: number;
  readonly duplicatePercent?: number;
}

/** Writes a file of generated ids, some of them spoiled or repeated at fixed places. */
export async function writeIdFile(path: string, shape: IdFileShape): Promise<void> {
  await writeFile(path, `${idEntries(shape).join('\n')}\n`);
}

/** The entries of such a file. */
export function idEntries({ entries, seed = 1, invalidPercent = 0, duplicatePercent = 0 }: IdFileShape): string[] {
  const lines: string[] = [];
  for (let n = 0; n < entries; n += 1) {
    // The spoiled places are spread over each hundred; a duplicate repeats the entry ten before it.
    const place = (n * 37) % 100;
    if (place < invalidPercent) lines.push(`spoiled-${n}`);
    else if (place < invalidPercent + duplicatePercent && n >= 100) lines.push(lines[n - 10] ?? '');
    else lines.push(generatedId(seed, n));
  }
  return lines;
}
