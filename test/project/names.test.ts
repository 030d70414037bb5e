import { expect, it } from 'vitest';
import { interfacesUsedOnce, sharedNames, sourceFiles } from '../../bench/source-files.ts';

/** Files whose functions still take such interfaces. Nothing is added here. */
const notYet: readonly string[] = [
  'core/run/disk-estimate.ts',
  'core/run/export-assets.ts',
  'core/run/forecast.ts',
  'core/run/record-verdict.ts',
  'core/run/record/runs-model.ts',
  'wings/fleet/enqueue-export.ts',
  'wings/fleet/queue/bullmq-queue.ts',
  'wings/fleet/work-export.ts',
  'wings/nights/bucket-nights.ts',
  'wings/nights/request-ids.ts',
  'wings/nights/survey-nights.ts',
  'wings/repair/rebuild/rebuilt-parts.ts',
  'wings/repair/repair-export.ts',
  'wings/repair/request-based-parts.ts',
  'wings/repair/rest-of-repair.ts',
];

const files = sourceFiles();

it('one exported name belongs to one file', () => {
  expect(Object.fromEntries(sharedNames(files))).toEqual({});
});

it('a function takes parameters, not an interface that nothing else names', () => {
  expect([...interfacesUsedOnce(files).keys()]).toEqual(notYet);
});
