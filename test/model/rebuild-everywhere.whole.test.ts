import { afterAll, beforeAll, it } from 'vitest';
import { openSource, rebuildExport, rebuiltJob } from '../../src/wings/repair/rebuild/rebuild-export.ts';
import { keptFolder } from '../support/temp-folder.ts';
import { everywhere, stoppedAt } from './support/everywhere.ts';
import { SmallExport, type SmallRun, writeSmallIds } from './support/small-export.ts';
import { type Undisturbed, undisturbedRun } from './support/undisturbed.ts';

const from = '/exports/source';
let folder: Awaited<ReturnType<typeof keptFolder>>;
let idsPath: string;
let source: SmallExport;
let calm: Undisturbed;

const open = (): SmallExport => new SmallRebuild(idsPath, source.disk.copy());

/** Rebuilds an export of small parts, which lies on the same disk, with fewer parts in two formats. */
class SmallRebuild extends SmallExport {
  override run(run: SmallRun = {}): ReturnType<SmallExport['run']> {
    return super.run({
      ...run,
      make: async ({ job }, context) => {
        const source = await openSource(from, context.files);
        const rebuilt = rebuiltJob(source, job.output.dir, { formats: ['csv', 'jsonl'] });
        return rebuildExport({ source, job: rebuilt, join: 2, fresh: false }, context);
      },
    });
  }
}

beforeAll(async () => {
  folder = await keptFolder();
  idsPath = writeSmallIds(folder.path);
  source = new SmallExport(idsPath);
  await source.run({ rowsPerPart: 5, flags: { out: from, format: 'jsonl' } });
  calm = await undisturbedRun(open());
});

afterAll(() => folder.remove());

it.each([
  ['the program is killed', {}],
  ['the power is lost', { powerLoss: () => false }],
])(
  // Promise, Nothing misread: A rebuild killed anywhere resumes to the same bytes (sampled)
  'a rebuild during which %s at any operation of the disk goes on to the same bytes',
  (_, how) => everywhere(calm.operations, (n) => stoppedAt(n, { open, calm, ...how })),
  120_000,
);
