import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { keptFolder } from '../support/temp-folder.ts';
import { everywhere, mended } from './support/everywhere.ts';
import { failingAt, failures, isMet } from './support/failing-weather.ts';
import type { Fate, Operation } from './support/memory-disk.ts';
import { sampled } from './support/sample.ts';
import { SmallExport, writeSmallIds } from './support/small-export.ts';
import { type Undisturbed, undisturbedRun, watchPublished, wrongFiles } from './support/undisturbed.ts';

let folder: Awaited<ReturnType<typeof keptFolder>>;
let idsPath: string;
let calm: Undisturbed;

beforeAll(async () => {
  folder = await keptFolder();
  idsPath = writeSmallIds(folder.path);
  calm = await undisturbedRun(new SmallExport(idsPath));
});

afterAll(() => folder.remove());

/** Of the history of the runs, without which an export is complete all the same. */
function isRecord({ path }: Operation): boolean {
  return /\/runs\.jsonl(\.new)?$/.test(path);
}

describe.each(sampled(failures, 3))(
  // Promise, Nothing lost: A full or broken disk ends a run in words; the next resumes (sampled)
  'an export whose disk fails with $code ($writtenShare of a write is written)',
  (failure) => {
    const fails: Fate = { kind: 'fails', ...failure };

    it.each(['once', 'for good'])(
      '%s at any operation says so, and goes on later to the same bytes',
      async (times) => {
        await everywhere(
          calm.operations,
          async (n) => {
            const small = new SmallExport(idsPath);
            const problems = watchPublished(small, calm);
            let struck: Operation | undefined;
            const met = { times: 0 };
            small.disk.weather = failingAt(n, (operation, isFirst) => {
              if (!isMet(operation, failure) || (times === 'once' && !isFirst)) return undefined;
              if (!isRecord(operation)) struck ??= operation;
              met.times += 1;
              return fails;
            });
            const error = await small.run().then(
              (outcome) => outcome?.error,
              (reason: unknown) => reason,
            );
            if (struck !== undefined)
              expect(error, `${n} ${struck.kind} ${struck.path}`).toMatchObject({ exit: 'cannotWrite' });
            else if (met.times > 0) expect(error, `${n}: a record that cannot be written fails no run`).toBeUndefined();
            if (small.disk.openFiles > 0 && times === 'once')
              problems.push(`${small.disk.openFiles} files are left open`);
            const kept = small.keptAnswers('written');
            small.disk.restart();
            problems.push(...wrongFiles(small, calm), ...(await mended(small, { kept, calm })));
            return { struck, problems };
          },
          (operation) => isMet(operation, failure),
        );
      },
      120_000,
    );
  },
);
