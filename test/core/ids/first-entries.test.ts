import { expect, it } from 'vitest';
import { aboutEntries, bytesOfInput } from '../../../src/core/ids/prepare-inputs.ts';
import { surveyList } from '../../../src/core/ids/read/read-ids.ts';
import { idOf, writeInput } from './read/id-files.ts';

const ids = (count: number): string[] => Array.from({ length: count }, (_, n) => idOf(n));

it.each([
  ['lines', 'ids.txt', (count: number) => `${ids(count).join('\n')}\n`],
  [
    'CSV',
    'ids.csv',
    (count: number) =>
      `id,name\n${ids(count)
        .map((id) => `${id},a name of it`)
        .join('\n')}\n`,
  ],
  ['JSON', 'ids.json', (count: number) => JSON.stringify(ids(count))],
])('how many entries there are is known of a short list of %s, and about of a longer one', async (_, name, textOf) => {
  for (const count of [7, 999, 1000, 1346, 20_000]) {
    const input = await writeInput(name, textOf(count));
    const { looked } = await surveyList(input, {});
    const about = aboutEntries({ ...input, ...(looked === undefined ? {} : { looked }) }, await bytesOfInput(input));
    if (count < 1000) expect(about).toBe(count);
    expect(about, String(count)).toBeGreaterThan(count * 0.95);
    expect(about, String(count)).toBeLessThan(count * 1.05);
    expect(looked?.isWhole).toBe(count < 1000);
  }
});
