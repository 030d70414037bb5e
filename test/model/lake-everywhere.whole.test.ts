import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { contentSeal, manifestBytes, parseManifest } from '../../src/places/export/manifest.ts';
import { checkLake } from '../../src/wings/lake/index.ts';
import { metadataNames } from '../../src/wings/lake/table-files.ts';
import { runsAll } from '../support/lane.ts';
import { keptFolder } from '../support/temp-folder.ts';
import { auditTable } from '../wings/lake/support/lake-audit.ts';
import { changesEach } from './support/everywhere.ts';
import { failingAt } from './support/failing-weather.ts';
import { Killed, type MemoryDisk } from './support/memory-disk.ts';
import { sampledOperations } from './support/sample.ts';
import { writeSmallIds } from './support/small-export.ts';
import {
  commands,
  lakeInBucket,
  lakeInFolder,
  openSmall,
  operationsOf,
  smallDays,
  type SmallLake,
  threeNights,
} from './support/small-lake.ts';

let folder: Awaited<ReturnType<typeof keptFolder>>;
let nights: MemoryDisk;

beforeAll(async () => {
  folder = await keptFolder();
  nights = await threeNights(writeSmallIds(folder.path));
}, 60_000);

afterAll(() => folder.remove());

const places = { 'a folder': lakeInFolder, 'a bucket': lakeInBucket };
const lastTwo = smallDays.slice(1);

/** Everything that is wrong with a lake; its nights are these. */
async function problemsOf(small: SmallLake, expected: readonly string[]): Promise<string[]> {
  const lake = openSmall(small);
  const problems: string[] = [];
  for (const table of ['assets', 'creators', 'changes']) problems.push(...(await auditTable(lake.store, table)));
  const { tables, problems: found } = await checkLake(lake);
  problems.push(...found.map(({ problem }) => problem));
  for (const { name, nights: own } of tables)
    if (own.join() !== expected.join()) problems.push(`${name} has ${own.join()}`);
  if (tables.length !== 3) problems.push(`${tables.length} tables`);
  return problems;
}

/** Files of tables that no version needs: names of the nights that went, and what was made and got no name. */
function leftovers(small: SmallLake): string[] {
  const gone = smallDays.slice(0, 1);
  return small.names().filter((name) => {
    const isOld = gone.some((day) => name.includes(day)) && !name.endsWith('.json');
    return isOld || name.startsWith('lake/.new/');
  });
}

/** A repair that changed the content of the second night: its manifest has another seal. */
function changeContent(small: SmallLake): void {
  const path = `date=${smallDays[1] ?? ''}/manifest.json`;
  const manifest = parseManifest(small.read(path) ?? Buffer.of(), path);
  const files = manifest.files.map((file) => ({
    ...file,
    sha256: `${file.sha256.slice(0, -1)}${file.sha256.endsWith('0') ? '1' : '0'}`,
  }));
  const changed = { ...manifest, files };
  expect(contentSeal(changed)).not.toBe(contentSeal(manifest));
  small.write(path, Buffer.from(manifestBytes(changed)));
}

/** What stands before a command, and what is right after it. */
const cases: Readonly<
  Record<keyof typeof commands, { before: (small: SmallLake) => Promise<void>; nights: string[] }>
> = {
  publish: { before: async () => undefined, nights: smallDays },
  prune: { before: commands.publish, nights: lastTwo },
  rebuild: { before: commands.publish, nights: smallDays },
  repair: {
    before: async (small) => {
      await commands.publish(small);
      changeContent(small);
    },
    nights: smallDays,
  },
};

describe.each(Object.entries(places))('a lake in %s', (_, open) => {
  it.each(Object.keys(cases) as (keyof typeof commands)[])(
    // Promise, Nothing misread: A killed publish, prune, rebuild or repair, run again, leaves a whole lake (sampled)
    'is whole after %s was killed at any operation and run again',
    async (name) => {
      const { before, nights: expected } = cases[name];
      const calm = open(nights);
      await before(calm);
      const operations = await operationsOf(calm, name);
      expect(await problemsOf(calm, expected)).toEqual([]);
      expect(operations.length).toBeGreaterThan(10);
      const isStruck = changesEach(runsAll ? 1 : 5);
      for (const n of sampledOperations(
        operations.flatMap((operation, index) => (isStruck(operation) ? [index] : [])),
      )) {
        const small = open(nights);
        await before(small);
        small.disk.weather = failingAt(n, () => ({ kind: 'dies', writtenShare: 0.5 }));
        await expect(commands[name](small), `${name} ${n}`).rejects.toThrow(Killed);
        small.restart();
        await commands[name](small);
        expect(await problemsOf(small, expected), `${name} ${n}`).toEqual([]);
        await commands.prune(small);
        expect(await problemsOf(small, lastTwo), `${name} ${n}, pruned`).toEqual([]);
        expect(leftovers(small), `${name} ${n}, pruned`).toEqual([]);
      }
    },
    240_000,
  );

  it.runIf(runsAll)(
    'keeps the last 100 versions of a table',
    async () => {
      const small = open(nights);
      await commands.publish(small);
      for (let time = 0; time < 101; time += 1) await commands.rebuild(small);
      await commands.prune(small);
      const versions = small.names().flatMap((path) => {
        const [, name] = /^lake\/assets\/metadata\/(.*)$/.exec(path) ?? [];
        return name === undefined ? [] : (metadataNames.versionOf(name) ?? []);
      });
      expect(versions).toHaveLength(100);
      expect(await problemsOf(small, lastTwo)).toEqual([]);
    },
    120_000,
  );
});
