import { afterAll, beforeAll, it } from 'vitest';
import { openSource, rebuildExport, rebuiltJob } from '../../src/operations/rebuild/rebuild-export.ts';
import { keptFolder } from '../support/temp-folder.ts';
import { everywhere, type Verdict } from './everywhere.ts';
import { failingAt } from './failing-weather.ts';
import type { Operation } from './memory-disk.ts';
import { SmallExport, writeSmallIds } from './small-export.ts';
import { recordOperations, type Undisturbed, essence, wrongFiles } from './undisturbed.ts';

const from = '/exports/source';
let folder: Awaited<ReturnType<typeof keptFolder>>;
let idsPath: string;

beforeAll(async () => {
  folder = await keptFolder();
  idsPath = writeSmallIds(folder.path);
});

afterAll(() => folder.remove());

/** A disk with a complete export of small parts. */
async function withSource(): Promise<SmallExport> {
  const small = new SmallExport(idsPath);
  await small.run({ rowsPerPart: 5, flags: { out: from, format: 'jsonl' } });
  return small;
}

/** Rebuilds it with fewer parts in two formats. */
function rebuild(small: SmallExport): ReturnType<SmallExport['run']> {
  return small.run({
    make: async ({ job }, context) => {
      const source = await openSource(from, context.files);
      const rebuilt = rebuiltJob(source, job.output.dir, { formats: ['csv', 'jsonl'] });
      return rebuildExport({ source, job: rebuilt, join: 2, fresh: false }, context);
    },
  });
}

async function undisturbed(): Promise<Undisturbed> {
  const small = await withSource();
  const operations = recordOperations(small);
  await rebuild(small);
  const published = [...small.published()].map(([path, inode]) => [path, essence(path, inode.content())] as const);
  return { files: new Map(published), operations };
}

it.each([
  ['the program is killed', false],
  ['the power is lost', true],
])(
  'a rebuild during which %s at any operation of the disk goes on to the same bytes',
  async (_, isPowerLost) => {
    const calm = await undisturbed();
    await everywhere(calm.operations, async (n): Promise<Verdict> => {
      const small = await withSource();
      let struck: Operation | undefined;
      small.disk.weather = failingAt(n, (operation) => {
        struck = operation;
        return { kind: 'dies' };
      });
      await rebuild(small);
      if (isPowerLost) small.disk.restartAfterPowerLoss(() => false);
      else small.disk.restart();
      const outcome = await rebuild(small);
      const problems = wrongFiles(small, calm);
      if (outcome?.state !== 'complete' && outcome?.state !== 'already')
        problems.push(`it is ${outcome?.state ?? 'killed'}`);
      if (small.published().size !== calm.files.size) problems.push(`${small.published().size} files are published`);
      if (small.disk.openFiles > 0) problems.push(`${small.disk.openFiles} files are left open`);
      return { struck, problems };
    });
  },
  120_000,
);
