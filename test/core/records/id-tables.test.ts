import { expect, it } from 'vitest';
import { missingReason, missingSince, reasonOfService } from '../../../src/core/records/id-tables.ts';

it('a reason of ours is read back, and words of a service are not', () => {
  const reason = missingReason('2026-11-20', 'asked again after 7 days');
  expect(missingSince(reason)).toBe(Date.UTC(2026, 10, 20));
  expect(missingSince(missingReason('2026-11-20T02:00Z', 'not asked again'))).toBe(Date.UTC(2026, 10, 20, 2));
  expect(missingSince(reasonOfService(reason))).toBeUndefined();
  expect(reasonOfService('Asset not found')).toBe('Asset not found');
});

it('a day that does not exist is no time', () => {
  expect(missingSince('missing since 2026-99-99, not found')).toBeUndefined();
  expect(missingSince('missing since yesterday, not found')).toBeUndefined();
  expect(missingSince(null)).toBeUndefined();
});
