import { exportPaths, pathIn } from '../../places/export/export-folder.ts';
import { publishFiles } from '../../places/scratch/part-file.ts';
import { makeLocalParts } from '../../core/work/make-parts.ts';
import { openAnswers } from './based-answers.ts';
import { type BasedDamage, type BasedPlan, batchesIn, entriesWith, isRequested } from './plan-based-repair.ts';
import { SurvivingAnswers } from './surviving-answers.ts';

/**
 * Rebuilds damaged files of parts whose rows all are known: carried ones from the base, and requested ones, where there are any,
 * from the part's own intact files. Keeps a file only if it is byte for byte the one that the manifest names. Yields the paths.
 */
export async function* rebuildFromBase(damage: BasedDamage, plan: BasedPlan): AsyncGenerator<string, void, void> {
  if (plan.known === undefined) return;
  const { finished, damaged, job } = damage;
  const { files, manifest } = finished;
  const wanted = new Map(manifest.files.filter(({ path }) => damaged.has(path)).map((file) => [file.path, file]));
  const answers = new SurvivingAnswers(damage);
  const parts = new Set([...wanted.values()].map(({ part }) => part));
  const unsure = new Set([...parts].filter((part) => !answers.has(part)));
  for await (const { part, ids } of batchesIn(damage, plan, unsure)) {
    if ([...ids].some((id) => isRequested(plan, id))) parts.delete(part);
  }
  if (parts.size === 0) return;
  const isNeeded = (part: number): boolean => parts.has(part);
  const open = await openAnswers(damage, plan, { answers, isNeeded, lastChanges: undefined });
  try {
    const made = makeLocalParts(
      {
        job,
        sinks: [],
        startedAtMs: manifest.startedAtMs ?? 0,
        sources: damage.prepared.inputs.map(({ name }) => name),
        parts: {
          scratch: job.output.dir,
          firstPart: 0,
          isNeeded,
          isLast: () => parts.has(manifest.parts - 1),
          entries: () => entriesWith(damage, plan),
        },
      },
      open.local,
      { files, stop: new AbortController().signal, listener: () => undefined },
    );
    for await (const { part } of made) {
      const same = part.files.filter(({ path, sha256 }) => wanted.get(path)?.sha256 === sha256);
      const paths = same.map(({ path }) => path);
      await publishFiles(files, job.output.dir, paths);
      for (const path of paths) damaged.delete(path);
      yield* paths;
    }
  } finally {
    await answers.close();
    await open.close();
    await files.remove(pathIn(job.output.dir, exportPaths.unfinished));
  }
}
