import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { storeWithin } from '../../../../src/places/objects/object-store.ts';
import { inBucket } from '../../../../src/core/run/homes/shared-home.ts';
import { standingIfAny } from '../../../../src/core/run/homes/standing.ts';
import type { StoreWeather } from '../../../support/memory-objects.ts';
import { MemoryObjects } from '../../../support/memory-objects.ts';
import { startGeneratedService } from '../../../support/service/generated-service.ts';
import { writeIdFile } from '../../../support/id-file.ts';
import { runExport } from '../../../support/run-export.ts';
import { tempFolder } from '../../../support/temp-folder.ts';
import { sampled } from '../../../model/support/sample.ts';

const address = 's3://bucket/out';

/** An export in a bucket that one process left unfinished and another one completes, both as they lie in the bucket. */
async function unfinishedAndComplete() {
  const folder = await tempFolder();
  const ids = join(folder, 'ids.txt');
  await writeIdFile(ids, { entries: 60 });
  const service = await startGeneratedService();
  onTestFinished(() => service.stop());
  const objects = new MemoryObjects();
  let machines = 0;
  /** Runs the export on a machine of its own. */
  const run = (flags: Readonly<Record<string, unknown>> = {}, weather?: StoreWeather) => {
    machines += 1;
    const shape = {
      format: 'csv',
      'ids-per-call': '10',
      'rows-per-part': '20',
      threads: '1',
      'dead-after-seconds': '1',
    };
    const scratch = join(folder, `scratch-${machines}`);
    const openStore = async () => storeWithin(objects.open(weather), 'out');
    return runExport({
      flags: { ids, url: service.url, out: address, scratch, ...shape, ...flags },
      context: { openStore },
    });
  };
  const snapshot = () => new Map(objects.objects);
  const restore = (to: ReturnType<typeof snapshot>): void => {
    objects.objects.clear();
    for (const [name, object] of to) objects.objects.set(name, object);
  };
  await run({ 'credits-per-run': '480' });
  const unfinished = snapshot();
  await run();
  const complete = snapshot();
  return { objects, run, restore, unfinished, complete };
}

/** Completes the export for the process whose n-th operation is about to begin. */
function completingAt(
  n: number,
  complete: () => void,
): { readonly weather: StoreWeather; readonly count: () => number } {
  let count = 0;
  const weather: StoreWeather = (_operation, when) => {
    if (when === 'before' && count++ === n) complete();
  };
  return { weather, count: () => count };
}

describe('an export in a bucket that another process completes meanwhile', () => {
  // Promise, Nothing misread: An export completed by another process is complete for `run` and `status` (sampled)
  it('is complete for status, at whichever request that happens', async () => {
    const { objects, restore, unfinished, complete } = await unfinishedAndComplete();
    let requests = 1;
    for (let n = 0; n < requests; n += 1) {
      restore(unfinished);
      const { weather, count } = completingAt(n, () => {
        restore(complete);
      });
      const standing = await standingIfAny(inBucket(storeWithin(objects.open(weather), 'out'), address), Date.now());
      requests = Math.max(requests, count());
      if (n > 0) expect(standing, `request ${n}`).toBeDefined();
      if (standing !== undefined && 'manifest' in standing) expect(standing.manifest.parts).toBe(3);
    }
    expect(requests).toBeGreaterThan(8);
  });

  it('is complete for a run, at whichever request that happens', async () => {
    const { run, restore, unfinished, complete } = await unfinishedAndComplete();
    restore(unfinished);
    const whole = completingAt(-1, () => undefined);
    await run({}, whole.weather);
    expect(whole.count()).toBeGreaterThan(30);
    for (const n of sampled([...Array(whole.count()).keys()], 4)) {
      restore(unfinished);
      const outcome = await run(
        {},
        completingAt(n, () => {
          restore(complete);
        }).weather,
      );
      expect(outcome.error, `request ${n}: ${outcome.error?.message ?? ''}`).toBeUndefined();
      expect(['complete', 'already'], `request ${n}`).toContain(outcome.state);
    }
  });
});
