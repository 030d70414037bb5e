import { describe, expect, it } from 'vitest';
import { intolerable } from '../../src/operations/tolerance.ts';
import type { ExportAccount } from '../../src/operations/export-outcome.ts';
import { noCounts, noNotes } from '../../src/store/export-facts.ts';

/** What a test does not mention is tolerated. */
const lenient = { maxMissing: '100%', maxFailed: '100%', maxInvalid: '100%' };

function account(counts: Partial<ExportAccount['counts']>): ExportAccount {
  const none = { pending: 0, parts: 1, files: [], calls: 0, credits: 0, drift: [], notes: noNotes };
  const read = Object.values(counts).reduce((sum, count) => sum + count, 0);
  return { folder: 'out', counts: { ...noCounts, read, ...counts }, ...none };
}

describe('an export is tolerated', () => {
  it.each([
    [{ missing: 5 }, { maxMissing: 5, maxFailed: 0 }],
    [
      { exported: 90, missing: 10 },
      { maxMissing: '10%', maxFailed: 0 },
    ],
    [
      { exported: 71, missing: 29 },
      { maxMissing: '29%', maxFailed: 0 },
    ],
    [
      { exported: 9943, missing: 57 },
      { maxMissing: '0.57%', maxFailed: 0 },
    ],
    [{ missing: 7 }, { maxMissing: '100%', maxFailed: 0 }],
    [
      { failed: 1, exported: 199, invalid: 5000 },
      { maxMissing: 0, maxFailed: '0.5%' },
    ],
    [{ failed: 3 }, { maxMissing: 0, maxFailed: '3' }],
    [{ invalid: 50, exported: 49, duplicate: 1 }, { maxInvalid: '50%' }],
    [{ invalid: 3, exported: 1 }, { maxInvalid: 3 }],
  ])('with %j under %j', (counts, tolerance) => {
    expect(intolerable(account(counts), { ...lenient, ...tolerance })).toBeUndefined();
  });
});

describe('an export is not tolerated', () => {
  it.each([
    [{ missing: 6 }, { maxMissing: 5, maxFailed: 0 }, '6 ids are missing, but tolerance.maxMissing allows 5'],
    [
      { exported: 90, missing: 11 },
      { maxMissing: '10%', maxFailed: 0 },
      '11 ids are missing, but tolerance.maxMissing allows 10%',
    ],
    [{ failed: 1 }, { maxMissing: '100%', maxFailed: 0 }, '1 ids are failed, but tolerance.maxFailed allows 0'],
    [
      { failed: 2, exported: 199, duplicate: 5000 },
      { maxMissing: 0, maxFailed: '0.5%' },
      '2 ids are failed, but tolerance.maxFailed allows 0.5%',
    ],
    [{ invalid: 51, exported: 49 }, { maxInvalid: '50%' }, '51 ids are invalid, but tolerance.maxInvalid allows 50%'],
    [{ invalid: 4, exported: 96 }, { maxInvalid: 3 }, '4 ids are invalid, but tolerance.maxInvalid allows 3'],
  ])('with %j under %j', (counts, tolerance, message) => {
    const error = intolerable(account(counts), { ...lenient, ...tolerance });
    expect(error).toMatchObject({ exit: 'notTolerated', message });
    expect(error?.todo).toContain('unexported/');
  });
});

it('an export of which no id was read is not tolerated, whatever else is', () => {
  expect(intolerable(account({}), lenient)).toMatchObject({
    exit: 'notTolerated',
    message: 'no id was read: the id files are empty',
  });
});

describe('drift', () => {
  const drift = [
    { kind: 'misfit', path: 'supply', count: 2, sampleId: 'first' },
    { kind: 'unknownField', path: 'a', count: 1, sampleId: 'second' },
    { kind: 'unknownField', path: 'b', count: 1, sampleId: 'second' },
    { kind: 'unknownValue', path: 'interface', count: 9, sampleId: 'third' },
  ] as const;
  const exported = account({ exported: 1 });

  it('is tolerated unless the job says otherwise', () => {
    expect(intolerable({ ...exported, drift }, lenient)).toBeUndefined();
    expect(intolerable({ ...exported, drift }, lenient, 'keep')).toBeUndefined();
    expect(intolerable(exported, lenient, 'fail')).toBeUndefined();
  });

  it('ends the run with exit 3 where the job wants that, naming the first paths with an asset', () => {
    const error = intolerable({ ...exported, drift }, lenient, 'fail');
    expect(error?.exitCode).toBe(3);
    expect(error?.message).toContain('differ from the specification 13 times');
    expect(error?.message).toContain('misfit at supply (asset first), unknown field a (asset second)');
    expect(error?.message).toContain('and 1 more paths');
    expect(error?.todo).toContain('manifest.json');
  });
});
