import { describe, expect, it } from 'vitest';
import type { Job } from '../../../src/core/job/job-schema.ts';
import { errorOf, intolerable, type Judging } from '../../../src/core/run/tolerance.ts';
import type { ExportAccount } from '../../../src/core/run/complete-export.ts';
import { noCounts, noNotes } from '../../../src/places/export/export-facts.ts';

/** What a test does not mention is tolerated. */
const lenient = {
  maxMissing: '100%',
  maxFailed: '100%',
  maxInvalid: '100%',
  maxUnlisted: '100%',
  maxUnproven: '100%',
  allowNone: true,
};

function judging(tolerance: Partial<Job['tolerance']> = {}, output: Partial<Judging['output']> = {}): Judging {
  return { tolerance: { ...lenient, ...tolerance }, output: { onDrift: 'keep', latest: false, lake: [], ...output } };
}

function account(counts: Partial<ExportAccount['counts']>): ExportAccount {
  const none = {
    rows: 0,
    fetched: 0,
    pending: 0,
    creditsLeft: null,
    unlisted: null,
    parts: 1,
    files: [],
    calls: 0,
    credits: 0,
    drift: [],
    notes: noNotes,
  };
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
    expect(intolerable(account(counts), judging(tolerance))).toBeUndefined();
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
    [{ failed: 1 }, { maxMissing: '100%', maxFailed: 0 }, '1 id is failed, but tolerance.maxFailed allows 0'],
    [
      { failed: 2, exported: 199, duplicate: 5000 },
      { maxMissing: 0, maxFailed: '0.5%' },
      '2 ids are failed, but tolerance.maxFailed allows 0.5%',
    ],
    [{ invalid: 51, exported: 49 }, { maxInvalid: '50%' }, '51 ids are invalid, but tolerance.maxInvalid allows 50%'],
    [{ invalid: 4, exported: 96 }, { maxInvalid: 3 }, '4 ids are invalid, but tolerance.maxInvalid allows 3'],
  ])('with %j under %j', (counts, tolerance, message) => {
    const error = intolerable(account(counts), judging(tolerance));
    expect(error).toMatchObject({ exit: 'notTolerated', message });
    expect(error?.todo).toContain('unexported/');
    expect(error?.todo).toContain('raise the limit and run the same command again');
  });
});

it('an export without an asset is not tolerated, unless it may be so', () => {
  expect(intolerable(account({ missing: 5 }), judging({ allowNone: false }))).toMatchObject({
    exit: 'notTolerated',
    message: 'no requested id is an asset (5 ids)',
  });
  expect(intolerable(account({ missing: 5 }), judging())).toBeUndefined();
  expect(intolerable(account({ missing: 5, exported: 1 }), judging({ allowNone: false }))).toBeUndefined();
});

it('an export of which no id was read is not tolerated, whatever else is', () => {
  expect(intolerable(account({}), judging())).toMatchObject({
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
    expect(intolerable({ ...exported, drift }, judging())).toBeUndefined();
    expect(intolerable({ ...exported, drift }, judging({}, { onDrift: 'keep' }))).toBeUndefined();
    expect(intolerable(exported, judging({}, { onDrift: 'fail' }))).toBeUndefined();
  });

  it('ends the run with exit 3 where the job wants that, naming the first paths with an asset', () => {
    const error = intolerable({ ...exported, drift }, judging({}, { onDrift: 'fail' }));
    expect(error?.exitCode).toBe(3);
    expect(error?.message).toContain('differ from the specification 13 times');
    expect(error?.message).toContain('misfit at supply (asset first), unknown field a (asset second)');
    expect(error?.message).toContain('and 1 more paths');
    expect(error?.todo).toContain('manifest.json');
  });
});

describe('a list that lacks ids of the base', () => {
  const asked = { new: 0, failed: 0, missing: 0, stale: 0 };
  const exported = (unlisted: number): ExportAccount => {
    const base = { name: 'night', seal: '', asked, overdue: 0, lost: 0, classes: [], rows: 1000, unlisted };
    return { ...account({ exported: 10 }), base };
  };

  it('is tolerated up to a share of the rows of the base, and named beyond it', () => {
    expect(intolerable(exported(200), judging({ maxUnlisted: '20%' }))).toBeUndefined();
    expect(intolerable(exported(201), judging({ maxUnlisted: '20%' }))).toMatchObject({
      exit: 'notTolerated',
      message: '201 of 1,000 assets of the base night are not listed now, but tolerance.maxUnlisted allows 20%.',
    });
    expect(intolerable(exported(3), judging({ maxUnlisted: 2 }))?.exit).toBe('notTolerated');
  });

  it('is the verdict however often the same command runs', () => {
    const outcome = { callsOfRun: 0, creditsOfRun: 0, elapsedMs: 0, columns: [], invalidSamples: [] };
    const job = judging({ maxFailed: 0 });
    const errorIn = (state: 'complete' | 'already' | 'unfinished') =>
      errorOf({ ...outcome, state, account: account({ failed: 1 }) }, job)?.exit;
    expect([errorIn('complete'), errorIn('already'), errorIn('unfinished')]).toEqual([
      'notTolerated',
      'notTolerated',
      undefined,
    ]);
  });
});

it('says that latest was not moved', () => {
  const error = intolerable(account({ failed: 1 }), judging({ maxFailed: 0 }, { latest: true }));
  expect(error?.todo).toMatch(/latest was not moved\.$/);
});

it('says that an export that is not good enough is not in the lake', () => {
  const job = judging({ maxMissing: 0 }, { lake: ['iceberg'] });
  expect(intolerable(account({ exported: 1, missing: 1 }), job)?.todo).toContain('was not published in the lake');
});
