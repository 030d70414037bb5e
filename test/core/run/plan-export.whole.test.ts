import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadJob } from '../../../src/core/job/load-job.ts';
import { type ExportPlan, planExport } from '../../../src/core/run/plan-export.ts';
import { prepareInputs } from '../../../src/core/ids/prepare-inputs.ts';
import { SeededRandom } from '../../../packages/practice-service/src/generated/seeded-random.ts';
import { localDisk } from '../../../src/places/files/disk.ts';
import { startGeneratedService } from '../../support/service/generated-service.ts';
import { idEntries, writeIdFile } from '../../support/id-file.ts';
import { exportBytes, runExport } from '../../support/run-export.ts';
import { tempFolder } from '../../support/temp-folder.ts';
import { sampled } from '../../model/support/sample.ts';

type Flags = Readonly<Record<string, string>>;

async function planOf(flags: Flags, folder: string): Promise<ExportPlan> {
  const { job, idsFolder } = loadJob({ flags, environment: {}, folder: '/' });
  const files = localDisk;
  const prepared = await prepareInputs({ job, idsFolder, files, stdin: noBytes(), folder });
  return planExport({ job, prepared, files });
}

async function* noBytes(): AsyncGenerator<Uint8Array, void, void> {
  // Nothing is piped in.
}

describe('a plan', () => {
  // Promise, Nothing overspent: `plan` prints what a run really sends, also in mid-export
  it('tells what a run then really sends, from any point at which an earlier one stopped', async () => {
    const folder = await tempFolder();
    for (const turn of sampled([...Array(12).keys()], 3)) {
      const random = new SeededRandom([1, 1, 2, turn]);
      const shape = { entries: 50 + random.below(150), seed: turn, invalidPercent: 5, duplicatePercent: 5 };
      const ids = join(folder, `ids-${turn}.txt`);
      await writeIdFile(ids, shape);
      const service = await startGeneratedService({ missingPercent: 5 });
      const flags = {
        ids,
        url: service.url,
        out: join(folder, `out-${turn}`),
        format: 'csv',
        'ids-per-call': String(1 + random.below(20)),
        'rows-per-part': String(1 + random.below(60)),
      };
      const entries = idEntries(shape);
      for (let stop = random.below(3); stop > 0; stop -= 1) {
        const plan = await planOf(flags, folder);
        await runExport({
          flags: { ...flags, 'credits-per-run': String(160 * Math.max(1, random.below(plan.calls + 1))) },
        });
      }
      const before = service.counts().calls;
      const plan = await planOf(flags, folder);
      const outcome = await runExport({ flags });
      expect(outcome.state).not.toBe('unfinished');
      expect(outcome.callsOfRun).toBe(plan.calls);
      expect(service.counts().calls - before).toBe(plan.calls);
      expect(plan.credits).toBe(160 * plan.calls);
      expect(plan.callsSent).toBe(before);
      expect(plan.read).toBe(entries.length);
      expect(plan).toMatchObject({ valid: plan.read - plan.invalid - plan.duplicates });
      expect(outcome.account.counts).toMatchObject({ invalid: plan.invalid, duplicate: plan.duplicates });
      await service.stop();
    }
  });

  it('tells what a run then really sends where the service takes fewer ids a call than the job asks for', async () => {
    const folder = await tempFolder();
    const ids = join(folder, 'ids.txt');
    await writeIdFile(ids, { entries: 394 });
    const service = await startGeneratedService({ maxIds: 3 });
    const flags = {
      ids,
      url: service.url,
      out: join(folder, 'out'),
      format: 'csv',
      'ids-per-call': '10',
      'rows-per-part': '20',
      concurrency: '1',
    };
    await runExport({ flags: { ...flags, 'credits-per-run': String(160 * 90) } });
    const plan = await planOf(flags, folder);
    expect(plan.alreadyDone).toBeGreaterThanOrEqual(20);
    expect(plan.callsSent).toBe(90);
    const before = service.counts().calls;
    const outcome = await runExport({ flags });
    expect(outcome.state).toBe('complete');
    expect(outcome.callsOfRun).toBe(service.counts().calls - before);
    // Now and then a larger size is tried again.
    expect(outcome.callsOfRun).toBeGreaterThanOrEqual(plan.calls - 1);
    expect(outcome.callsOfRun).toBeLessThanOrEqual(plan.calls + 2);
    await service.stop();
  });

  it('of a complete export is nothing, and changes no file', async () => {
    const folder = await tempFolder();
    const ids = join(folder, 'ids.txt');
    await writeIdFile(ids, { entries: 50 });
    const service = await startGeneratedService();
    const flags = { ids, url: service.url, out: join(folder, 'out') };
    await runExport({ flags: { ...flags, 'ids-per-call': '10', 'credits-per-run': '320' } });
    const half = exportBytes(flags.out);
    await expect(planOf(flags, folder)).rejects.toMatchObject({ exit: 'usage' });
    expect(await planOf({ ...flags, 'ids-per-call': '10' }, folder)).toMatchObject({ calls: 3, callsSent: 2 });
    expect(exportBytes(flags.out)).toEqual(half);
    await runExport({ flags: { ...flags, 'ids-per-call': '10' } });
    expect(await planOf({ ...flags, 'ids-per-call': '10' }, folder)).toMatchObject({
      read: 50,
      valid: 50,
      alreadyDone: 50,
      calls: 0,
      credits: 0,
      callsSent: 5,
    });
    await service.stop();
  });

  it.each([
    { perDay: '1600', perSecond: '320', calls: 25, days: 3, seconds: 12.5 },
    { perDay: '1759', perSecond: '160', calls: 25, days: 3, seconds: 25 },
    { perDay: '160', perSecond: '80', calls: 25, days: 25, seconds: 50 },
    { perDay: '159', perSecond: '16', calls: 25, days: 'never', seconds: 250 },
  ])('counts days of whole calls and seconds: $perDay a day, $perSecond a second', async (row) => {
    const folder = await tempFolder();
    const ids = join(folder, 'ids.txt');
    await writeIdFile(ids, { entries: 250 });
    const flags = { ids, url: 'http://127.0.0.1:9', out: join(folder, 'out'), 'ids-per-call': '10' };
    const limits = { 'credits-per-day': row.perDay, 'credits-per-second': row.perSecond };
    const { calls, days, seconds } = await planOf({ ...flags, ...limits }, folder);
    expect({ calls, days, seconds }).toEqual({ calls: row.calls, days: row.days, seconds: row.seconds });
    expect(await planOf(flags, folder)).toMatchObject({ days: null, seconds: null });
  });
});
