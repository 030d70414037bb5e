import { expect, it } from 'vitest';
import { ProgressState } from '../../src/cli/progress/progress-state.ts';
import { progressOptions } from '../../src/cli/run-context.ts';
import { createMemoryLedger } from '../../src/core/client/ledger/credit-ledger.ts';
import { systemClock, utcDay } from '../../src/lib/clock.ts';
import { loadJob } from '../../src/core/job/load-job.ts';

it.each([
  [{}, undefined, undefined],
  [{ 'credits-per-run': '1000' }, 1000, 680],
  [{ 'credits-per-day': '1000' }, 840, 520],
  [{ 'credits-per-day': '1000', 'credits-per-run': '320' }, 320, 0],
])(
  'the progress of a job under %j leaves %s credits, and %s after two calls: 160 were booked before',
  async (flags, first, then) => {
    const ledger = createMemoryLedger();
    await ledger.reserve({ day: utcDay(systemClock.now()), credits: 160 });
    const given = { ids: 'ids.txt', url: 'http://127.0.0.1:9', out: 'out', ...flags };
    const { job } = loadJob({ flags: given, environment: {}, folder: '/' });
    const state = new ProgressState(await progressOptions(job, ledger, 'info'));
    expect(state.look().creditsLeft).toBe(first);
    for (const ids of [1000, 1000]) state.add({ kind: 'sent', ids });
    expect(state.look().creditsLeft).toBe(then);
  },
);
