import { expect, it } from 'vitest';
import { ProgressState } from '../../../src/cli/progress/progress-state.ts';
import { createMemoryLedger } from '../../../src/core/client/ledger/credit-ledger.ts';
import { jobSchema } from '../../../src/core/job/job-schema.ts';
import { recordRun } from '../../../src/core/run/history/record-run.ts';
import { readRunLines, lastRunOf } from '../../../src/core/run/history/run-history.ts';
import { noCounts } from '../../../src/places/export/export-facts.ts';
import { unfinishedRun } from '../../../src/wings/status/run-status.ts';
import { MemoryDisk } from '../../model/support/memory-disk.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { idsPerCallOf, recordedRun, recordedRuns } from './recorded-run.ts';

const everyMs = 200;

it.each(recordedRuns)('another process shows the speed and the time left of a recorded run (%s)', async (name) => {
  const idsPerCall = idsPerCallOf[name];
  const job = jobSchema.parse({
    ids: { from: ['ids.txt'] },
    service: { url: 'https://service.example', idsPerCall },
    output: { dir: '/out' },
  });
  const disk = new MemoryDisk();
  await disk.files.makeFolder('/out/.run');
  const clock = createFakeClock(0);
  const record = { files: disk.files, folder: '/out', clock, ledger: createMemoryLedger(), job };
  const told = { run: 'uuid', version: '1', counts: noCounts, listener: () => undefined };
  const recorder = await recordRun({ ...record, ...told });
  const budget = { ...job.budget, bookedBefore: 0 };
  const block = new ProgressState({ clock, idsPerCall, rowsPerPart: 50_000, budget, logLevel: 'info' });
  const events = recordedRun(name);
  const endT = events.at(-1)?.t ?? 0;
  const inputBytes = events.reduce((most, { event }) => (event.kind === 'opened' ? event.inputBytes : most), 0);
  const atT = [0.4, 0.6, 0.8].map((share) => Math.round((endT * share) / everyMs) * everyMs);
  let next = 0;
  for (let t = 0; t <= Math.max(...atT); t += everyMs) {
    for (let each = events[next]; each !== undefined && each.t <= t; each = events[next]) {
      await clock.advance(Math.max(0, each.t - clock.now()));
      recorder.listener(each.event);
      block.add(each.event);
      next += 1;
    }
    await clock.advance(t - clock.now());
    const shown = block.look();
    if (!atT.includes(t)) continue;
    // The record is written every second.
    await clock.advance(1000);
    const last = lastRunOf(await readRunLines(disk.files, '/out'));
    const standing = { isHeld: true, done: shown.done, inputBytes, creditsLeft: null, nowMs: t };
    const status = unfinishedRun(last, standing);
    expect((status.rate ?? 0) / shown.idsPerSecond, `speed at ${t}`).toBeCloseTo(1, 1.4);
    expect((status.etaMs ?? 0) / (shown.left?.ms ?? 0), `time left at ${t}`).toBeCloseTo(1, 1);
  }
});
