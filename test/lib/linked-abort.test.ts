import { getEventListeners } from 'node:events';
import { expect, it } from 'vitest';
import { LinkedAbort } from '../../src/lib/end-work.ts';

it('is aborted with the outer signal, for the same reason, and before where that was', () => {
  const outer = new AbortController();
  const linked = new LinkedAbort(outer.signal);
  expect(linked.signal.aborted).toBe(false);
  outer.abort('the reason');
  expect(linked.signal).toMatchObject({ aborted: true, reason: 'the reason' });
  expect(new LinkedAbort(outer.signal).signal).toMatchObject({ aborted: true, reason: 'the reason' });
});

it('is aborted alone, and leaves nothing with the outer signal once it is unlinked', () => {
  const outer = new AbortController();
  const linked = new LinkedAbort(outer.signal);
  linked.abort('its own');
  expect(linked.signal.reason).toBe('its own');
  expect(outer.signal.aborted).toBe(false);
  linked.unlink();
  expect(getEventListeners(outer.signal, 'abort')).toEqual([]);
});

it('is one of many with an outer signal, and Node warns of none', async () => {
  const warnings: Error[] = [];
  const keep = (warning: Error): void => void warnings.push(warning);
  process.on('warning', keep);
  const outer = new AbortController();
  const all = Array.from({ length: 20 }, () => new LinkedAbort(outer.signal));
  await new Promise((resolve) => setImmediate(resolve));
  process.off('warning', keep);
  outer.abort();
  expect(all.filter(({ signal }) => signal.aborted)).toHaveLength(20);
  expect(warnings).toEqual([]);
});
