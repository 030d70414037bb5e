import { expect, it } from 'vitest';
import { SmallFleet, steps } from '../../model/support/small-fleet.ts';
import { writeSmallIds } from '../../model/support/small-export.ts';
import { tempFolder } from '../../support/temp-folder.ts';

it.each([
  { enqueued: {}, works: { dialect: 'helius' } },
  { enqueued: { dialect: 'helius' }, works: {} },
])('a worker with another dialect does not join', async ({ enqueued, works }) => {
  const small = new SmallFleet(writeSmallIds(await tempFolder()));
  await small.enqueue({ flags: enqueued });
  await expect(small.run({ flags: works, make: steps.work() })).rejects.toMatchObject({
    exit: 'usage',
    message: expect.stringContaining('another dialect') as string,
  });
  expect(small.asked.size).toBe(0);
  expect(await small.run({ flags: enqueued, make: steps.work() })).toMatchObject({ state: 'complete' });
});
