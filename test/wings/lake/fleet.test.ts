import { expect, it } from 'vitest';
import { exitCodes } from '../../../src/lib/exit-codes.ts';
import { checkedJson, valueOfCheckedJson } from '../../../src/lib/hash/sha256.ts';
import { ExportError } from '../../../src/lib/export-error.ts';
import { inBucket } from '../../../src/core/run/homes/shared-home.ts';
import { storeWithin } from '../../../src/places/objects/object-store.ts';
import { statusAt } from '../../../src/wings/status/export-status.ts';
import { firstNight } from '../../support/nights.ts';
import { SmallFleet, steps } from '../../model/support/small-fleet.ts';
import { writeSmallIds } from '../../model/support/small-export.ts';
import type { StoreWeather } from '../../support/memory-objects.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const day = '2026-11-20';

/** A fleet that publishes its night, in a bucket that has all of its nights. */
async function nightOfFleet() {
  const fleet = new SmallFleet(writeSmallIds(await tempFolder()));
  const flags = { out: `s3://bucket/nightly/date=${day}`, format: 'parquet', lake: 'iceberg', 'max-failed': '100%' };
  const readBody = async (file: string) => (await fleet.disk.files.readAll(file)) ?? Buffer.of();
  const step = (make: Parameters<SmallFleet['run']>[0] & object, weather?: StoreWeather) =>
    fleet.run({
      flags,
      ...make,
      context: {
        openStore: async ({ address }) =>
          storeWithin(fleet.bucket.open(weather, readBody), address.slice('s3://bucket/'.length)),
      },
    });
  const versions = () => [...fleet.bucket.objects.keys()].filter((name) => /^nightly\/lake\/.*\/v\d/.test(name)).sort();
  const status = () => {
    const store = storeWithin(fleet.bucket.open(undefined, readBody), `nightly/date=${day}`);
    return statusAt(inBucket(store, flags.out), firstNight);
  };
  return { fleet, step, versions, status };
}

const published = ['nightly/lake/assets/metadata/v1.metadata.json', 'nightly/lake/creators/metadata/v1.metadata.json'];

/** A bucket in which lakes are not to be had. */
const withoutLake: StoreWeather = ({ name }) => {
  if (name.startsWith('nightly/lake')) throw new ExportError('unavailable', 'the bucket does not answer');
};

it('a worker of another encoding ends with exit 12, and writes nothing', async () => {
  const { fleet, step } = await nightOfFleet();
  await step({ make: steps.enqueue() });
  const name = `nightly/date=${day}/.run/start.json`;
  const start = valueOfCheckedJson(Buffer.from(fleet.bucket.objects.get(name)?.bytes ?? []));
  const newer = Buffer.from(checkedJson({ ...(start as object), encoding: 3 }));
  await fleet.bucket.open().put(name, { bytes: newer });
  const before = [...fleet.bucket.objects.keys()];
  await expect(step({ make: steps.work() })).rejects.toMatchObject({
    exit: 'damaged',
    message: expect.stringMatching(/start\.json is of encoding 3, and this version reads 2$/) as string,
  });
  expect([...fleet.bucket.objects.keys()]).toEqual(before);
  expect(exitCodes.damaged.code).toBe(12);
});

it('the worker that completes the export of a fleet publishes it', async () => {
  const { step, versions } = await nightOfFleet();
  await step({ make: steps.enqueue() });
  const outcome = await step({ make: steps.work() });
  expect(outcome).toMatchObject({ state: 'complete', lake: { assets: {}, creators: {} } });
  expect(versions()).toEqual(published);
});

it('an export of a fleet that is not in the lake is published by work', async () => {
  const { step, versions, status } = await nightOfFleet();
  await step({ make: steps.enqueue() });
  const outcome = await step({ make: steps.work() }, withoutLake);
  expect(outcome).toMatchObject({
    state: 'complete',
    account: { counts: { exported: 27 } },
    error: { exit: 'unavailable', message: expect.stringContaining('is complete, not in the lake') as string },
  });
  const failed = await step({ make: steps.work() }, withoutLake);
  expect(failed).toMatchObject({ state: 'already', error: { exit: 'unavailable' } });
  expect(versions()).toEqual([]);
  expect(await status()).toMatchObject({ exit: 5, lastError: expect.stringContaining('not in the lake') as string });
  const again = await step({ make: steps.work() });
  expect(again).toMatchObject({ state: 'already', lake: { assets: { snapshot: expect.any(Number) as number } } });
  expect(versions()).toEqual(published);
  expect(await status()).toMatchObject({ exit: 0, lastError: null });
});
