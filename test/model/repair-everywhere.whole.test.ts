import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { alreadyComplete } from '../../src/core/run/complete-export.ts';
import { repairExport } from '../../src/wings/repair/repair-export.ts';
import { generatedId } from '../../packages/practice-service/src/generated/generated-assets.ts';
import { SeededRandom } from '../../packages/practice-service/src/generated/seeded-random.ts';
import { requireManifest } from '../../src/places/export/manifest.ts';
import type { MakeExport } from '../support/run-export.ts';
import { keptFolder } from '../support/temp-folder.ts';
import { changesEach, everywhere, mended, type Verdict } from './support/everywhere.ts';
import { failingAt } from './support/failing-weather.ts';
import type { MemoryDisk, Operation } from './support/memory-disk.ts';
import { SmallExport, type SmallRun, writeSmallIds } from './support/small-export.ts';
import { firstNight, secondNight } from './support/small-nights.ts';
import { essence, type Undisturbed } from './support/undisturbed.ts';

const base = '/exports/base';
const out = '/exports/small';
const flags = { 'base-credits': '320' };
let folder: Awaited<ReturnType<typeof keptFolder>>;
let idsPath: string;
/** A disk with two nights; files of three of the four parts of the second one are gone. */
let damaged: MemoryDisk;
let sent: number;
/** The second night as it was made. */
let whole: Map<string, string>;

/** Repairs the second night. */
class SmallRepair extends SmallExport {
  override run(run: SmallRun = {}): ReturnType<SmallExport['run']> {
    return super.run(secondNight(base, { ...run, make: repairSmall }));
  }
}

const repairSmall: MakeExport = async (source, context) => {
  const effects = { files: context.files, stdin: context.stdin, pay: async () => context };
  const { after, error } = await repairExport({ folder: out, source }, effects);
  const outcome = alreadyComplete(out, await requireManifest(context.files, out));
  if (after.damage.length === 0) return outcome;
  return { ...outcome, state: 'unfinished', ...(error === undefined ? {} : { error }) };
};

function lose(disk: MemoryDisk, path: string): void {
  disk.tree.unlink(`${out}/${path}`);
  disk.tree.syncFolder(dirname(`${out}/${path}`));
}

const open = (): SmallExport => new SmallRepair(idsPath, damaged.copy());
beforeAll(async () => {
  folder = await keptFolder();
  idsPath = writeSmallIds(folder.path);
  const first = new SmallExport(writeKnownIds(folder.path));
  await first.run(firstNight(base));
  const second = new SmallExport(idsPath, first.disk.copy());
  const outcome = await second.run(secondNight(base, { flags }));
  expect(outcome).toMatchObject({ state: 'complete', account: { parts: 3 } });
  // Every part is another one where its carried rows are requested.
  const { commits } = await requireManifest(second.disk.files, out);
  expect(commits.map(({ counts }) => [counts.carried > 0, counts.exported > 0])).toEqual(
    commits.map(() => [true, true]),
  );
  sent = outcome?.account.calls ?? 0;
  whole = essences(second);
  damaged = second.disk;
  for (const path of second.published().keys()) {
    if (!/part-0000(0|1)\.(csv|jsonl.zst)$/.test(path) && !/assets\/part-00002/.test(path)) continue;
    lose(damaged, path);
  }
});

afterAll(() => folder.remove());

/** Ids of the first night: some of each part, and one that is not listed any more. */
function writeKnownIds(folder: string): string {
  const path = join(folder, 'known.txt');
  const known = [...Array.from({ length: 28 }, (_, n) => generatedId(9, n)), generatedId(9, 99)];
  writeFileSync(path, `${known.join('\n')}\n`);
  return path;
}

function essences(small: SmallExport): Map<string, string> {
  return new Map([...small.published()].map(([path, inode]) => [path, essence(path, inode.content())]));
}

/** Calls that were sent and that the manifest does not know. */
async function uncounted(small: SmallExport): Promise<string[]> {
  const { calls } = await requireManifest(small.disk.files, out);
  const again = [...small.asked.values()].reduce((sum, times) => sum + times, 0);
  return calls >= sent + again ? [] : [`${sent + again} calls were sent, and the manifest has ${calls}`];
}

/** Repairs an export without a base. */
class PlainRepair extends SmallExport {
  override run(): ReturnType<SmallExport['run']> {
    return super.run({ make: repairSmall });
  }
}

async function openPlain(): Promise<() => SmallExport> {
  const plain = new SmallExport(idsPath);
  expect(await plain.run()).toMatchObject({ state: 'complete', account: { parts: 3 } });
  whole = essences(plain);
  sent = (await requireManifest(plain.disk.files, out)).calls;
  for (const path of plain.published().keys()) if (/assets\/part-0000[02]/.test(path)) lose(plain.disk, path);
  return () => new PlainRepair(idsPath, plain.disk.copy());
}

describe.each([
  ['a night', async () => open],
  ['an export without a base', openPlain],
])('a repair of %s', (what, make) => {
  let calm: Undisturbed;
  let opened: () => SmallExport;

  it('makes the damaged parts again', async () => {
    opened = await make();
    const small = opened();
    const operations: Operation[] = [];
    small.disk.weather = (operation) => {
      operations.push(operation);
      return { kind: 'happens' };
    };
    expect(await small.run()).toMatchObject({ state: 'already' });
    calm = { files: essences(small), operations };
    const paths = [...calm.files.keys()];
    const others = paths.filter((path) => calm.files.get(path) !== whole.get(path));
    expect(paths.filter((path) => path.includes('/changes/'))).toEqual([]);
    if (what === 'a night') expect(others).toContain('csv/assets/part-00001.csv');
    else expect(others).toEqual([]);
  });

  it(
    // Promise, Nothing lost: A repair stopped anywhere ends with the same bytes and pays nothing twice (sampled)
    'whose machine stops at any operation of the disk goes on to the same bytes, and pays for no kept answer again',
    () =>
      everywhere(
        calm.operations,
        async (n): Promise<Verdict> => {
          const small = opened();
          let struck: Operation | undefined;
          small.disk.weather = failingAt(n, (operation) => {
            struck = operation;
            return { kind: 'dies', writtenShare: n % 2 };
          });
          await small.run();
          const isKilled = n % 4 === 0;
          const kept = small.keptAnswers(isKilled ? 'written' : 'synced');
          const random = new SeededRandom([n, 4, 5, 6]);
          if (isKilled) small.disk.restart();
          else small.disk.restartAfterPowerLoss(() => random.chance(30));
          const problems = await mended(small, { kept, calm });
          // A loss of power may undo the last seconds of the sums.
          return { struck, problems: isKilled ? [...problems, ...(await uncounted(small))] : problems };
        },
        changesEach(1),
      ),
    240_000,
  );
});
