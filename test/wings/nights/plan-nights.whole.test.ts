import { inFolder } from '../../../src/core/run/homes/export-place.ts';
import { writeFileSync } from 'node:fs';
import { runWings } from '../../../src/world/wings.ts';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { prepareInputs } from '../../../src/core/ids/prepare-inputs.ts';
import { loadJob } from '../../../src/core/job/load-job.ts';
import { dayMs, systemClock, utcDay } from '../../../src/lib/clock.ts';
import { planExport } from '../../../src/core/run/plan-export.ts';
import { statusAt } from '../../../src/wings/status/export-status.ts';
import { generatedId, generatedRecord } from '../../../packages/practice-service/src/generated/generated-assets.ts';
import { localDisk } from '../../../src/places/files/disk.ts';
import { firstNight, night } from '../../support/nights.ts';
import { runHere } from '../../support/run-here.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const ids = Array.from({ length: 110 }, (_, n) => generatedId(4, n));
const records = ids.map(generatedRecord);
const shape = { 'ids-per-call': '20', 'rows-per-part': '40', format: 'csv' };

/** A folder of nights, and the ids of all of them in a file. */
async function nights() {
  const top = await tempFolder();
  const idsFile = join(top, 'ids.txt');
  writeFileSync(idsFile, `${ids.join('\n')}\n`);
  const base = join(top, 'date=*');
  const run = (day: number, name: string, flags: Readonly<Record<string, unknown>> = {}) =>
    night({ day, records, ids, out: join(top, name), flags: { ...shape, ids: idsFile, base, ...flags } });
  const plan = async (day: number, name: string, { fresh = false, ...flags }: Readonly<Record<string, unknown>>) => {
    const given = { ids: idsFile, url: 'http://127.0.0.1:9', out: join(top, name), ...shape, base, ...flags };
    const { job, idsFolder } = loadJob({ flags: given, folder: '/' });
    const prepared = await prepareInputs({ job, idsFolder, files: localDisk, stdin: nothing(), folder: top });
    const clock = { ...systemClock, now: () => firstNight + day * dayMs };
    return planExport({ ...runWings, job, prepared, files: localDisk, clock, fresh: fresh === true });
  };
  return { top, idsFile, run, plan };
}

async function* nothing(): AsyncGenerator<Uint8Array, void, void> {
  // Nothing is piped in.
}

describe('a plan of a night', () => {
  it('with --fresh has the base that a run would take, and never the night itself', async () => {
    const { top, run, plan } = await nights();
    await run(0, 'date=2026-11-20', { base: 'none' });
    await run(1, 'date=2026-11-21', { 'max-age': '1d' });
    const planned = await plan(2, 'date=2026-11-21', { fresh: true, 'max-age': '2d' });
    expect(planned).toMatchObject({ calls: 6, base: { folder: join(top, 'date=2026-11-20') } });
  });

  it('that was stopped counts the answers that are kept, not the calls that were sent', async () => {
    const { top, run, plan } = await nights();
    await run(0, 'date=2026-11-20', { base: 'none' });
    const flags = { 'max-age': '1d' };
    const cut = await run(1, 'date=2026-11-21', { ...flags, 'credits-per-run': '320' });
    expect(cut).toMatchObject({ callsOfRun: 2, error: { exit: 'spent' } });
    const out = join(top, 'date=2026-11-21');
    // As if a kill had come while two more calls were under way.
    writeFileSync(join(out, '.run/asked/.run/calls'), '0000000000000004\n');
    writeFileSync(join(out, '.run/asked/.run/credits'), '0000000000000640\n');
    expect(await plan(1, 'date=2026-11-21', flags)).toMatchObject({ calls: 4, callsSent: 4 });
    expect(await statusAt(inFolder(localDisk, out), firstNight)).toMatchObject({ calls: 4, credits: 640 });
    expect(await run(1, 'date=2026-11-21', flags)).toMatchObject({ callsOfRun: 4, state: 'complete' });
  });

  it('says that an unfinished night before it may become its base', async () => {
    const { top, idsFile, run } = await nights();
    const [older, newer] = [utcDay(Date.now() - 3 * dayMs), utcDay(Date.now() - 2 * dayMs)];
    await run(0, `date=${older}`, { base: 'none' });
    await run(1, `date=${newer}`, { 'max-age': '1d', 'credits-per-run': '160' });
    const job = { ...shape, ids: idsFile, url: 'http://127.0.0.1:9', base: 'date=*', out: 'date={date}' };
    const line = Object.entries({ ...job, 'max-age': '1d' }).flatMap(([name, value]) => [`--${name}`, value]);
    const { stdout } = await runHere(['plan', ...line, '--json'], { cwd: top });
    const { warnings } = JSON.parse(stdout) as { warnings: string[] };
    expect(warnings.join()).toContain(`date=${newer} may become the base once it is finished`);
  });

  it('counts what fills the last call up apart from what is stale', async () => {
    const { top, idsFile, run } = await nights();
    await run(0, 'date=2026-11-20', { base: 'none' });
    writeFileSync(idsFile, `${[...ids, generatedId(4, ids.length)].join('\n')}\n`);
    const job = { ...shape, ids: idsFile, url: 'http://127.0.0.1:9', base: 'date=*', out: 'next', 'max-age': '9000d' };
    const line = Object.entries(job).flatMap(([name, value]) => [`--${name}`, value]);
    const { stdout } = await runHere(['plan', ...line], { cwd: top });
    expect(stdout).toMatch(/^ *new +1\n +stale +0\n +filled up +19 \(same call\) +together: others 19\n/m);
  });
});
