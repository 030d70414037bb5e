import bs58 from 'bs58';
import { generatedId } from '../packages/practice-service/src/generated/generated-assets.ts';
import { SeededRandom } from '../packages/practice-service/src/generated/seeded-random.ts';

/** What an entry of an id file is there for. */
export type Purpose = 'found' | 'missing' | 'invalid' | 'duplicate';

export interface SampleEntry {
  readonly text: string;
  readonly purpose: Purpose;
}

/** How many entries of each purpose a file gets; its records are `from` to `from + found - 1`. */
export interface SamplePlan {
  readonly from: number;
  readonly found: number;
  readonly missing: number;
  readonly invalid: number;
  readonly duplicate: number;
}

/** The assets of `assets.jsonl.gz` are the ids 0 to 2,999 of this seed; later ids of it are missing. */
export const sampleSeed = 2024;
export const sampleRecords = 3000;

/** A valid key that no service knows as an asset, and whose text a careless reader takes for a number. */
const allOnes = '1'.repeat(32);

/** The entries of the id files, each list in a drawn order. A duplicate repeats an id of its own file or of an earlier one. */
export function sampleEntries(plans: readonly SamplePlan[]): SampleEntry[][] {
  const random = new SeededRandom([sampleSeed, 1, 2, 3]);
  const seen: string[] = [];
  let nextMissing = sampleRecords;
  return plans.map((plan, file) => {
    const first = Array.from({ length: plan.found }, (_, index) => entry(idAt(plan.from + index), 'found'));
    for (let count = 0; count < plan.missing; count += 1) {
      first.push(entry(file === 0 && count === 0 ? allOnes : idAt(nextMissing), 'missing'));
      nextMissing += 1;
    }
    for (let count = 0; count < plan.invalid; count += 1)
      first.push(entry(invalidText(count + file, random), 'invalid'));
    const entries = shuffled(first, random);
    for (let count = 0; count < plan.duplicate; count += 1) repeatOne(entries, seen, random);
    for (const { text, purpose } of entries) if (purpose === 'found' || purpose === 'missing') seen.push(text);
    return entries;
  });
}

function entry(text: string, purpose: Purpose): SampleEntry {
  return { text, purpose };
}

function idAt(n: number): string {
  return generatedId(sampleSeed, n);
}

/** The ways in which ids go wrong in people's lists. */
function invalidText(kind: number, random: SeededRandom): string {
  const id = idAt(random.below(sampleRecords));
  const bytes = bs58.decode(id);
  const kinds = [
    () => bs58.encode(bytes.subarray(0, 31)),
    () => bs58.encode(Uint8Array.of(...bytes, 7)),
    () => `${id.slice(0, 20)}0${id.slice(21)}`,
    () => `${id.slice(0, 9)}O${id.slice(10)}`,
    () => `${id.slice(0, 30)}I${id.slice(31)}`,
    () => `${id.slice(0, 3)}l${id.slice(4)}`,
    () => 'see the other list',
    () => `${id} #${random.below(sampleRecords)}`,
    () => `0x${Buffer.from(bytes).toString('hex')}`,
    () => id.slice(0, 12),
  ];
  return (kinds[kind % kinds.length] ?? (() => 'not an id'))();
}

/** Repeats an id of this file (if `seen` is empty, or at random) or of an earlier one. */
function repeatOne(entries: SampleEntry[], seen: readonly string[], random: SeededRandom): void {
  if (seen.length > 0 && random.chance(50)) {
    entries.splice(random.below(entries.length), 0, entry(random.pick(seen), 'duplicate'));
    return;
  }
  let from = random.below(entries.length);
  while (entries[from]?.purpose === 'invalid') from = random.below(entries.length);
  const original = entries[from]?.text ?? '';
  const after = from + 1 + random.below(entries.length - from);
  entries.splice(after, 0, entry(original, 'duplicate'));
}

function shuffled(entries: readonly SampleEntry[], random: SeededRandom): SampleEntry[] {
  const drawn = entries.map((each) => ({ each, place: random.next() }));
  return drawn.sort((a, b) => a.place - b.place).map(({ each }) => each);
}
