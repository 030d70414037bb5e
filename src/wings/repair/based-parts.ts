import type { HashSet128 } from '../../lib/hash/hash-set-128.ts';
import { FinishedExport, type ManifestFile } from '../../exports/finished-export.ts';
import { entriesOf } from '../../core/ids/mark-duplicates.ts';
import { compareAssets } from '../../core/records/asset-changes.ts';
import { assetsTable, changesTable } from '../../core/records/columns.ts';
import { blockOf, type RowBlock } from '../../core/records/row-block.ts';
import { type LocalAnswers, makeLocalParts } from '../../core/work/make-parts.ts';
import { makesChildRows, tablesOf } from '../../core/work/tables-of.ts';
import { begunOf } from '../../places/export/manifest.ts';
import { exportPaths, pathIn } from '../../places/export/export-folder.ts';
import { type Answers, maxAgeOf, openBasedParts, RefreshAsker } from '../nights/index.ts';
import { type BasedPlan, batchesIn, entriesWith, isRequested } from './plan-based-repair.ts';
import { type DamagedExport, damagedParts, inThousands, type PreparedDamage, putRebuilt } from './rebuild-files.ts';
import { SurvivingAnswers } from './surviving-answers.ts';

/**
 * Rebuilds damaged files of parts whose rows all are known: carried ones from the base, and requested ones, where there are any,
 * from the part's own intact files. Keeps a file only if it is byte for byte the one that the manifest names. Yields the paths.
 */
export async function* rebuildFromBase(damage: PreparedDamage, plan: BasedPlan): AsyncGenerator<string, void, void> {
  if (plan.known === undefined) return;
  const { finished, damaged, job, target } = damage;
  const { manifest } = finished;
  const wanted = new Map(manifest.files.filter(({ path }) => damaged.has(path)).map((file) => [file.path, file]));
  const answers = new SurvivingAnswers(damage);
  const parts = damagedParts(damage);
  const unsure = new Set([...parts].filter((part) => !answers.has(part)));
  for await (const { part, ids } of batchesIn(damage, plan, unsure)) {
    if ([...ids].some((id) => isRequested(plan, id))) parts.delete(part);
  }
  if (parts.size === 0) return;
  const isNeeded = (part: number): boolean => parts.has(part);
  const open = await openAnswers(damage, plan, { answers, isNeeded });
  try {
    const made = makeLocalParts(
      {
        job,
        begun: begunOf(manifest),
        sources: manifest.inputs.map(({ name }) => name),
        parts: { scratch: target.scratch, firstPart: 0, isNeeded, entries: () => entriesWith(damage, plan) },
      },
      open.local,
      { files: target.files, stop: new AbortController().signal, listener: () => undefined },
    );
    for await (const { part } of made) {
      for (const file of part.files) {
        if (wanted.get(file.path)?.sha256 !== file.sha256) continue;
        await putRebuilt(damage, file);
        yield file.path;
      }
    }
  } finally {
    await answers.close();
    await open.close();
  }
}

export interface AnswersOfParts {
  /** What became of the ids that were requested. */
  readonly answers: Answers;
  readonly isNeeded: (part: number) => boolean;
  /** Path of a kept file of `changes` of the last part; used where the base is gone. */
  readonly changes?: string | undefined;
}

/** Opens what damaged parts are made of. Call `close` when they are made. */
export async function openAnswers(
  damage: PreparedDamage,
  { known, keys, classes }: BasedPlan,
  { answers, isNeeded, changes }: AnswersOfParts,
): Promise<{ readonly local: LocalAnswers; close(): Promise<void> }> {
  const { job, finished, prepared, target } = damage;
  const begun = begunOf(finished.manifest);
  if (known !== undefined) {
    const request = {
      job,
      base: known.base,
      files: target.files,
      folder: target.scratch,
      begun,
      entries: (seen: Pick<HashSet128, 'addAll'>) => entriesOf(job, prepared, { seen }),
    };
    return openBasedParts(request, { keys, classes }, { answers, isNeeded });
  }
  const asker = new RefreshAsker({
    keys,
    answers,
    startedAtMs: begun.startedAtMs,
    classes: classes.all.length,
    isBaseGone: true,
    hasLists: makesChildRows(tablesOf(job, begun)),
    rows: { take: noBase, skip: () => undefined },
    missingAfter: maxAgeOf(job.base.missingAfter),
    compare: compareAssets(assetsTable.columns, job.base.ignore),
  });
  const originsOf: LocalAnswers['originsOf'] = (ids) => asker.originsOf(ids);
  return {
    local: { client: asker, originsOf, tail: () => unlistedRows(damage, changes) },
    close: () => Promise.resolve(),
  };
}

function noBase(): Promise<never> {
  return Promise.reject(new Error('there is no base'));
}

/** The rows of `changes` that are of no id of the export, as its own kept file has them. */
async function* unlistedRows(
  { finished: { files, folder, manifest }, job }: PreparedDamage,
  changes: string | undefined,
): AsyncGenerator<RowBlock, void, void> {
  const shaped = tablesOf(job, begunOf(manifest)).find(({ whole }) => whole === changesTable);
  const file = manifest.files.find(({ path }) => path === changes);
  if (file === undefined || shaped === undefined) return;
  const kept = new FinishedExport(files, pathIn(folder, `${exportPaths.repair}/${exportPaths.kept}`), manifest);
  const { columns } = shaped.table;
  const at = columns.findIndex(({ name }) => name === 'reason');
  for await (const rows of inThousands(kept.rows(file, columns)))
    yield blockOf(
      columns,
      rows.filter((row) => row[at] === 'unlisted'),
    );
}

/** An intact file of `changes` of the last part. */
export function lastChangesOf({
  finished,
  damaged,
}: Pick<DamagedExport, 'finished' | 'damaged'>): ManifestFile | undefined {
  const last = finished.manifest.parts - 1;
  return finished.filesOf(changesTable.name).find(({ part, path }) => part === last && !damaged.has(path));
}
