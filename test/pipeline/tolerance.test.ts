import { describe, expect, it } from 'vitest';
import { intolerable } from '../../src/pipeline/tolerance.ts';
import type { ExportAccount } from '../../src/pipeline/export-outcome.ts';
import { noCounts, noNotes } from '../../src/store/export-facts.ts';

function account(counts: Partial<ExportAccount['counts']>): ExportAccount {
  const none = { pending: 0, parts: 1, files: [], calls: 0, credits: 0, drift: [], notes: noNotes };
  return { folder: 'out', counts: { ...noCounts, ...counts }, ...none };
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
    [{}, { maxMissing: 0, maxFailed: 0 }],
  ])('with %j under %j', (counts, tolerance) => {
    expect(intolerable(account(counts), tolerance)).toBeUndefined();
  });
});

describe('an export is not tolerated', () => {
  it.each([
    [{ missing: 6 }, { maxMissing: 5, maxFailed: 0 }, '6 ids are missing, and tolerance.maxMissing allows 5'],
    [
      { exported: 90, missing: 11 },
      { maxMissing: '10%', maxFailed: 0 },
      '11 ids are missing, and tolerance.maxMissing allows 10%',
    ],
    [{ failed: 1 }, { maxMissing: '100%', maxFailed: 0 }, '1 ids are failed, and tolerance.maxFailed allows 0'],
    [
      { failed: 2, exported: 199, duplicate: 5000 },
      { maxMissing: 0, maxFailed: '0.5%' },
      '2 ids are failed, and tolerance.maxFailed allows 0.5%',
    ],
  ])('with %j under %j', (counts, tolerance, message) => {
    const error = intolerable(account(counts), tolerance);
    expect(error).toMatchObject({ exit: 'notTolerated', message });
    expect(error?.todo).toContain('unexported/');
  });
});

describe('drift', () => {
  const drift = [
    { kind: 'misfit', path: 'supply', count: 2, sampleId: 'first' },
    { kind: 'unknownField', path: 'a', count: 1, sampleId: 'second' },
    { kind: 'unknownField', path: 'b', count: 1, sampleId: 'second' },
    { kind: 'unknownValue', path: 'interface', count: 9, sampleId: 'third' },
  ] as const;
  const limits = { maxMissing: '100%', maxFailed: 0 };

  it('is tolerated unless the job says otherwise', () => {
    expect(intolerable({ ...account({}), drift }, limits)).toBeUndefined();
    expect(intolerable({ ...account({}), drift }, limits, 'keep')).toBeUndefined();
    expect(intolerable(account({}), limits, 'fail')).toBeUndefined();
  });

  it('ends the run with exit 3 where the job wants that, naming the first paths with an asset', () => {
    const error = intolerable({ ...account({}), drift }, limits, 'fail');
    expect(error?.exitCode).toBe(3);
    expect(error?.message).toContain('differ from the specification 13 times');
    expect(error?.message).toContain('misfit at supply (asset first), unknown field a (asset second)');
    expect(error?.message).toContain('and 1 more paths');
    expect(error?.todo).toContain('manifest.json');
  });
});
