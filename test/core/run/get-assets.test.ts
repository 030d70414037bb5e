import { expect, it } from 'vitest';
import { getAssets } from '../../../src/core/run/get-assets.ts';
import { idOf } from '../client/support/calls.ts';

it('gets no assets at all, and sends nothing, when one of the ids is none', async () => {
  const untouched = new Proxy({}, { get: () => expect.fail('nothing is looked at before the ids') });
  const job = { service: { idsPerCall: 1, concurrency: 1 }, budget: {} } as never;
  const fates = getAssets({ ids: [idOf(1), 'é"]]'], job }, untouched as never);
  await expect(fates.next()).rejects.toMatchObject({ exit: 'usage', message: 'not an asset id: "é\\"]]"' });
});
