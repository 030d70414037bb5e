import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { SeededRandom } from '../../../packages/practice-service/src/generated/seeded-random.ts';
import { readObject, namesOf } from '../../../src/places/objects/object-store.ts';
import type { GeneratedServiceOptions } from '../../support/service/generated-service.ts';
import { runsAll } from '../../support/lane.ts';
import { told } from '../../support/run-program.ts';
import { azuriteServer, bucketServer, type FleetStore, folderStore, radosgwServer } from './fleet-stores.ts';
import { expectWhole, nthOf, startFleet } from './start-fleet.ts';

const elsewhere = 'npm run test:all tests it';
/** `npm test` runs a fleet over a bucket alone. */
const [bucket, azurite, radosgw] = await Promise.all([
  bucketServer(),
  runsAll ? azuriteServer() : elsewhere,
  runsAll ? radosgwServer() : elsewhere,
]);
const stores = [runsAll ? folderStore : elsewhere, bucket, azurite, radosgw].filter((each) => typeof each !== 'string');
afterAll(() => Promise.all(stores.map(({ stop }) => stop())));
if (typeof radosgw === 'string') {
  console.warn(`a fleet is not tested on Ceph: ${radosgw}`);
  it.skip(`a fleet on Ceph: ${radosgw}`);
}

const badPercent = 5;

/** Some requests are refused because the store is busy, and the answers of some puts are lost. */
function spoil({ server, busy }: FleetStore): void {
  const random = new SeededRandom([5, 6, 7, 8]);
  if (server === undefined) return;
  server.draw = (operation) => {
    if (operation === 'PUT' && random.chance(badPercent)) return 'lost';
    return random.chance(badPercent) ? busy : undefined;
  };
  onTestFinished(() => void (server.draw = () => undefined));
}

const wide = { format: 'csv,parquet', tables: 'assets,creators' };
const shape = { entries: 600, invalidPercent: 5, duplicatePercent: 10 };

describe.each(stores)('a fleet on $name', (store) => {
  // Promise, Nothing overspent: Workers that freeze or lose machines make the same files on four stores (sampled)
  it('of which some lose their machines and one is frozen makes the same files, on a bad day', async () => {
    const flags = { ...(runsAll ? wide : {}), 'entries-per-slice': '80' };
    const service = { delayMs: 30, jitterMs: 60 };
    const ids = { ...shape, entries: runsAll ? 800 : 240 };
    const fleet = await startFleet({ store, ids, service, badPercent, flags });
    spoil(store);
    const start = (n: number) => fleet.start(`disk-${n}`, '--shard', `${n % 4}/4`);
    const disks = runsAll ? [0, 1, 2] : [0];
    const lost = disks.map(async (n) => {
      const worker = start(n);
      await fleet.called(nthOf(`disk-${n}`, 5 + 2 * n));
      await fleet.lose(`disk-${n}`, worker);
    });
    const frozen = start(3);
    const { firstId, key } = await fleet.called(nthOf('disk-3', 6));
    frozen.child.kill('SIGSTOP');
    const again = fleet.called((call) => call.firstId === firstId && call.key !== key);
    await Promise.all(lost);
    // Others come now: earlier they could have taken the slices that the lost and the frozen ones are to begin.
    const undisturbed = runsAll ? [] : [fleet.program('disk-1', 'work', '--shard', '1/4')];
    const ends = [frozen, ...disks.map((n) => start(n + 4))].map(({ ended }) => ended);
    // Another worker makes the same part when it wakes.
    await again;
    frozen.child.kill('SIGCONT');
    for (const ended of [...ends, ...undisturbed]) expect(await ended).toMatchObject({ exit: 0 });
    await expectWhole(fleet);
  }, 240_000);
});

describe('a fleet', () => {
  it('that is told to stop keeps its answers, and nothing is asked again on other machines', async () => {
    const [answered, inFlight] = [3, 2];
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    const asked = new Map<string, number>();
    const service: GeneratedServiceOptions = {
      at: (point, { key }) => {
        if (point !== 'received') return;
        asked.set(key, (asked.get(key) ?? 0) + 1);
        return (asked.get(key) ?? 0) > answered ? held : undefined;
      },
    };
    const flags = { 'rows-per-part': '100', 'entries-per-slice': '100' };
    const ids = { ...shape, entries: runsAll ? 600 : 200 };
    const fleet = await startFleet({ store: bucket, ids, service, flags });
    const disks = (runsAll ? [0, 1, 2, 3] : [0]).map((n) => `disk-${n}`);
    const busy = Promise.all(disks.map((disk) => fleet.called(nthOf(disk, answered + inFlight))));
    const workers = disks.map((disk, n) => fleet.start(disk, '--shard', `${n}/${disks.length}`));
    await busy;
    const waiting = workers.map(({ child }) => told(child, 'waiting for answers in flight'));
    for (const { child } of workers) child.kill('SIGTERM');
    await Promise.all(waiting);
    release();
    for (const [n, { ended }] of workers.entries()) {
      expect(await ended).toMatchObject({ exit: 143 });
      rmSync(join(fleet.folder, `disk-${n}`), { recursive: true, force: true });
    }
    expect(fleet.service.counts().calls).toBe(disks.length * (answered + inFlight));
    expect(await namesOf(fleet.objects, '.run/answers/')).toHaveLength(disks.length);
    expect(await fleet.program('other', 'work', '--report')).toMatchObject({ exit: 0 });
    expect(String(await readObject(fleet.objects, 'report.html'))).toContain('>complete<');
    const { batches } = fleet.service.counts();
    expect(batches.filter(({ asked }) => asked > 1)).toEqual([]);
    await expectWhole(fleet);
  }, 120_000);

  it('leaves what others hold to them where a worker does not wait', async () => {
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    const fleet = await startFleet({ store: bucket, ids: { entries: 80 }, service: { at: () => held } });
    const holders = [0, 1].map((n) => fleet.start(`disk-${n}`, '--shard', `${n}/2`));
    // A worker sends one call until its first answer is there.
    await fleet.called(({ number }) => number === 2);
    expect(await fleet.program('disk-2', 'work', '--no-wait')).toMatchObject({ exit: 11 });
    const status = JSON.parse((await fleet.about('status', '--json')).stdout) as object;
    expect(status).toMatchObject({ state: 'running', total: 80, totalExact: true, inputShare: 0 });
    expect(status).toMatchObject({
      fleet: { slices: 2, done: 0, held: 2, free: 0, workers: [{ slice: 0 }, { slice: 1 }] },
    });
    const text = await fleet.about('status');
    expect(text.stdout).toContain('is running: 2 workers');
    expect(text.stdout).toContain('slices   0 of 2 done, 2 held, 0 free');
    release();
    for (const { ended } of holders) expect(await ended).toMatchObject({ exit: 0 });
  }, 120_000);

  it('puts the files of a part and one entry of a log, and little else', async () => {
    const flags = { ...wide, 'entries-per-slice': '1600', 'dead-after-seconds': '600' };
    const fleet = await startFleet({ store: bucket, ids: { ...shape, entries: runsAll ? 1600 : 400 }, flags });
    const puts = (): number => bucket.server?.requests.get('PUT') ?? 0;
    const before = puts();
    expect(await fleet.program('disk-0', 'work')).toMatchObject({ exit: 0 });
    const { files } = JSON.parse(String(await readObject(fleet.objects, 'manifest.json'))) as {
      files: { part: number }[];
    };
    const needed = files.length + new Set(files.map(({ part }) => part)).size;
    expect(needed).toBeGreaterThan(runsAll ? 200 : 50);
    const others = puts() - before - needed;
    expect(others).toBeGreaterThanOrEqual(0);
    // A probe, claims, the history and the manifest are twelve; an entry more a part would be eighteen.
    expect(others).toBeLessThanOrEqual(16);
  }, 120_000);
});
