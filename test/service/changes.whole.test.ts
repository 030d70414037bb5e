import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { whenProblem } from '../../src/core/records/classify-assets.ts';
import { dayMs } from '../../src/lib/clock.ts';
import { classify, readChangesFile } from '../../src/practice-service.ts';
import { type Changes, changesSchema } from '../../packages/practice-service/src/changes/change-schema.ts';
import { ChangingStore } from '../../packages/practice-service/src/changes/changing-store.ts';
import { generatedId } from '../../packages/practice-service/src/generated/generated-assets.ts';
import { GeneratedStore } from '../../packages/practice-service/src/store/generated-store.ts';
import { fileOf } from './local-service.ts';

const from = '2026-11-20';
const schema = changesSchema(whenProblem);
const ids = Array.from({ length: 1500 }, (_, n) => generatedId(5, n));

/** What the service has for each id on a day. */
function recordsOn(day: number, changes: Partial<Changes>): Map<string, string | undefined> {
  const checked = schema.parse({ from, ...changes });
  const clock = { now: () => Date.parse(from) + day * dayMs };
  const store = new ChangingStore(new GeneratedStore(0), checked, { clock, classify });
  return new Map(
    ids.map((id) => {
      return [id, store.get(id)?.text.toString('utf8')];
    }),
  );
}

type Records = ReturnType<typeof recordsOn>;

function differing(before: Records, after: Records): string[] {
  return ids.filter((id) => before.get(id) !== after.get(id));
}

const isToken = (text = ''): boolean => text.startsWith('{"interface":"Fungible');

describe('a service whose records change', () => {
  it('has them byte for byte as loaded up to the first day, and the same ones at any time of a day', () => {
    const loaded = recordsOn(0, { share: 0 });
    expect(differing(loaded, recordsOn(0.9, { share: 1 }))).toEqual([]);
    expect(differing(loaded, recordsOn(-3, { share: 1 }))).toEqual([]);
    expect(differing(recordsOn(2, { share: 0.3 }), recordsOn(2.9, { share: 0.3 }))).toEqual([]);
  });

  it('changes the share of each class a day, others of each seed', () => {
    const changes = { share: 0.02, classes: [{ when: ['fungible', '!interface:V1_NFT'], share: 0.6 }] };
    const [first, second] = [recordsOn(1, changes), recordsOn(2, changes)];
    const tokens = ids.filter((id) => isToken(first.get(id)));
    const changed = differing(first, second);
    const changedTokens = changed.filter((id) => isToken(first.get(id)));
    expect(changedTokens.length / tokens.length).toBeCloseTo(0.6, 1);
    // Other classes of tokens than `Fungible…` have the share of the first class, too.
    expect(changed.length).toBeLessThan(0.45 * ids.length);
    expect(differing(second, recordsOn(2, { ...changes, seed: 1 })).length).toBeGreaterThan(100);
  });

  it('gives a token another supply, other assets another owner, and burns some for good', () => {
    const [before, after] = [recordsOn(0, {}), recordsOn(1, { share: 1 })];
    const parsed = (records: Records, id: string) =>
      JSON.parse(records.get(id) ?? '') as Record<string, Record<string, unknown>>;
    const token = ids.find((id) => isToken(before.get(id))) ?? '';
    const [old, now] = [parsed(before, token), parsed(after, token)];
    expect(now).toEqual({ ...old, token_info: { ...old['token_info'], ...supplyOf(now['token_info']) } });
    expect(now['token_info']?.['supply']).not.toBe(old['token_info']?.['supply']);
    const burnt = ids.filter(
      (id) => before.get(id)?.includes('"burnt":false') && after.get(id)?.includes('"burnt":true'),
    );
    expect(burnt.length).toBeGreaterThan(20);
    const later = recordsOn(5, { share: 1 });
    expect(burnt.filter((id) => after.get(id) !== later.get(id))).toEqual([]);
  });

  it('loses some, and has some of these back', () => {
    const gone = (day: number): string[] => {
      const records = recordsOn(day, { gone: 0.1, back: 0.5 });
      return ids.filter((id) => records.get(id) === undefined);
    };
    const [first, second] = [gone(1), gone(2)];
    expect(first.length / ids.length).toBeCloseTo(0.1, 1);
    expect(first.filter((id) => second.includes(id)).length / first.length).toBeCloseTo(0.5, 0);
    expect(second.length).toBeGreaterThan(first.length);
  });

  it.each([
    ['share: 0.1', 'at from: must be a day like 2026-11-20'],
    [`{ from: ${from}, share: 2 }`, 'at share: must be at most 1'],
    [`{ from: ${from}, shares: 1 }`, 'Unrecognized key: "shares"'],
    [`{ from: ${from}, classes: [{ when: [fungibel], share: 1 }] }`, 'at classes[0].when[0]: must be one of'],
  ])('refuses a file with %s', async (text, why) => {
    await expect(readChangesFile(fileOf([text]))).rejects.toMatchObject({
      exit: 'usage',
      message: expect.stringContaining(why) as string,
    });
  });

  it('is in docs/service.md with each of its fields', async () => {
    const document = readFileSync(new URL('../../docs/service.md', import.meta.url), 'utf8');
    for (const field of Object.keys(schema.shape)) expect(document).toContain(`| \`${field}\` |`);
    const [, example = ''] = /```yaml\n(seed: 7\nfrom:[^`]+)```/.exec(document) ?? [];
    expect((await readChangesFile(fileOf([example]))).classes).toHaveLength(3);
  });
});

function supplyOf(token: Record<string, unknown> | undefined): Record<string, unknown> {
  const { supply, price_info: price } = token ?? {};
  return { supply, ...(price === undefined ? {} : { price_info: price }) };
}
