import { getEventListeners } from 'node:events';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it, onTestFinished } from 'vitest';
import { SmallExport, writeSmallIds } from '../../model/support/small-export.ts';
import { failingAt } from '../../model/support/failing-weather.ts';
import { keptFolder } from '../../support/temp-folder.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

it.each([
  ['is complete', undefined],
  ['failed', 150],
] as const)('an export that %s is kept by nothing, though the signal that stops it lives on', async (_how, failsAt) => {
  const folder = await keptFolder();
  onTestFinished(() => folder.remove());
  const idsPath = writeSmallIds(folder.path);
  const stop = new AbortController();
  const exported = async (): Promise<WeakRef<SmallExport>> => {
    const small = new SmallExport(idsPath);
    if (failsAt !== undefined) small.disk.weather = failingAt(failsAt, () => ({ kind: 'fails', code: 'ENOSPC' }));
    const outcome = await small.run({ context: { stop: stop.signal } });
    expect(outcome?.state).toBe(failsAt === undefined ? 'complete' : 'unfinished');
    return new WeakRef(small);
  };
  const all: WeakRef<SmallExport>[] = [];
  for (let n = 0; n < 5; n += 1) all.push(await exported());
  await new Promise((resolve) => setTimeout(resolve));
  collectGarbage();
  // Stacks may still name the last one.
  expect(all.filter((each) => each.deref() !== undefined).length).toBeLessThanOrEqual(1);
  expect(getEventListeners(stop.signal, 'abort')).toEqual([]);
});
