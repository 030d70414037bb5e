import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { createLocalPace } from '../../../src/core/client/policies/shared-pace.ts';
import { type Clock, dayMs, systemClock } from '../../../src/lib/clock.ts';
import { withStoreRetries } from '../../../src/places/objects/store-retries.ts';
import { createHurriedClock } from '../../support/hurried-clock.ts';
import { writeIdFile } from '../../support/id-file.ts';
import { runExport } from '../../support/run-export.ts';
import { startGeneratedService } from '../../support/service/generated-service.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const hourMs = 3_600_000;
const steps = [2 * hourMs, dayMs, 365 * dayMs].flatMap((ms) => [ms, -ms]);

/** A clock whose time of day steps once, after so many looks at it. */
function stepping(stepMs: number, looks: number, clock: Clock = createHurriedClock()): Clock {
  let looked = 0;
  return { ...clock, now: () => clock.now() + ((looked += 1) > looks ? stepMs : 0) };
}

it('a run has the same figures, whenever the time of day steps', async () => {
  const folder = await tempFolder();
  const ids = join(folder, 'ids.txt');
  await writeIdFile(ids, { entries: 200 });
  const service = await startGeneratedService();
  onTestFinished(() => service.stop());
  const figuresOf = async (name: string, clock: Clock) => {
    const limits = { 'ids-per-call': '10', concurrency: '1', 'credits-per-second': '16000' };
    const flags = { ids, url: service.url, out: join(folder, name), format: 'csv', ...limits };
    const { account, callsOfRun, elapsedMs, state } = await runExport({ flags, context: { clock } });
    return { counts: account.counts, callsOfRun, isShort: elapsedMs > 100 && elapsedMs < 60_000, state };
  };
  const usual = await figuresOf('usual', systemClock);
  expect(usual).toMatchObject({ callsOfRun: 20, isShort: true, state: 'complete' });
  for (const stepMs of steps)
    for (const looks of [4, 40])
      expect(await figuresOf(`${stepMs}-${looks}`, stepping(stepMs, looks, systemClock)), `${stepMs}`).toEqual(usual);
});

it.each(steps)('a store that fails for some seconds recovers: a step of %i ms', async (stepMs) => {
  let fails = 6;
  const operation = (): Promise<string> =>
    (fails -= 1) >= 0 ? Promise.reject(new Error('503')) : Promise.resolve('ok');
  const context = { address: 's3://bucket', clock: stepping(stepMs, 2), random: () => 0.5 };
  await expect(withStoreRetries(context, () => 'passing', operation)).resolves.toBe('ok');
});

it.each(steps)('calls leave at the same pace: a step of %i ms', async (stepMs) => {
  const waits = async (clock: Clock): Promise<number[]> => {
    const pace = createLocalPace(clock, 160);
    const all: number[] = [];
    for (let call = 0; call < 6; call += 1) {
      all.push(await pace.turn(160));
      await clock.sleep(all.at(-1) ?? 0);
    }
    return all;
  };
  expect(await waits(stepping(stepMs, 3))).toEqual(await waits(createHurriedClock()));
});
