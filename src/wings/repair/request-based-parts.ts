import { AskedAnswers } from '../nights/index.ts';
import { ExportError } from '../../lib/export-error.ts';
import type { Commit } from '../../places/export/export-facts.ts';
import { exportPaths, pathIn } from '../../places/export/export-folder.ts';
import type { Spent } from '../../places/export/spent.ts';
import { type Manifest, writeManifest } from '../../places/export/manifest.ts';
import { publishFiles } from '../../places/scratch/part-file.ts';
import type { ExportContext } from '../../core/run/export-context.ts';
import { type MadePart, makeLocalParts } from '../../core/work/make-parts.ts';
import { manifestCommits, manifestOf } from '../../core/run/complete-export.ts';
import type { SpentNow } from '../../core/run/export-slices.ts';
import { homeInFolder } from './home-in-folder.ts';
import { baseAccount } from '../nights/index.ts';
import { requestIds } from '../nights/index.ts';
import { openAnswers } from './based-answers.ts';
import type { PartsToRequest } from './list-based-parts.ts';
import { beginPending, dropOtherAnswers, keptChanges, type PendingRepair } from './pending-repair.ts';
import { entriesWith } from './plan-based-repair.ts';
import type { RequestedParts } from './repair-outcome.ts';

/** Requests the listed ids within the budget, and makes the parts of their answers and of the base. */
export async function requestBasedParts(listed: PartsToRequest, context: ExportContext): Promise<RequestedParts> {
  const spentNow = { calls: 0, credits: 0 };
  const parts: number[] = [];
  let error: ExportError | undefined;
  try {
    for await (const part of remadeParts(listed, spentNow, context)) parts.push(part);
  } catch (reason) {
    if (!(reason instanceof ExportError)) throw reason;
    error = reason;
  }
  return { parts, ...spentNow, ...(error === undefined ? {} : { error }) };
}

/** Yields the number of each part once it is in the manifest. */
async function* remadeParts(
  listed: PartsToRequest,
  spentNow: SpentNow,
  context: ExportContext,
): AsyncGenerator<number, void, void> {
  const { damage, plan, parts, ids } = listed;
  const { files } = context;
  const { job, finished } = damage;
  const folder = job.output.dir;
  const pending = plan.pending ?? (await beginPending(damage, { parts, withBase: plan.known !== undefined }));
  let again: Spent = { calls: 0, credits: 0 };
  const onSpent = (spent: Spent): void => {
    again = spent;
  };
  const requested = {
    job,
    home: await homeInFolder(files, folder),
    idsPath: pathIn(folder, exportPaths.askedIds),
    onSpent,
  };
  await dropOtherAnswers(files, folder);
  const answers = await AskedAnswers.open(ids === 0 ? undefined : await requestIds(requested, spentNow, context));
  const { job: shape, inputs, startedAtMs = 0, rebuilt, setAside } = finished.manifest;
  const start = { job: shape, inputs, startedAtMs };
  const commits = manifestCommits(finished.manifest);
  /** What the manifest says of the base was true of their first making. */
  const without = new Set(damage.account.withoutBase);
  try {
    for await (const { part } of madeParts(listed, answers, pending, context)) {
      const { refresh: before } = commits[part.part] ?? {};
      const isWithout = plan.known === undefined || without.has(part.part);
      if (isWithout) without.add(part.part);
      commits[part.part] = { ...part, inputBytes: 0, ...(isWithout ? { refresh: before } : {}) };
      const names = part.files.map(({ path }) => path);
      await publishFiles(files, folder, names);
      const spent = { calls: pending.calls + again.calls, credits: pending.credits + again.credits };
      const base = repairedAccount(listed, commits, without);
      const { version } = context;
      const made = { job, start, commits, ...spent, version, base, rebuilt, setAside };
      await writeManifest(files, folder, manifestOf(made));
      yield part.part;
    }
  } finally {
    await answers.close();
  }
}

async function* madeParts(
  { damage, plan, parts }: PartsToRequest,
  answers: AskedAnswers,
  pending: PendingRepair,
  context: ExportContext,
): AsyncGenerator<MadePart, void, void> {
  const { job, finished, prepared } = damage;
  const { manifest } = finished;
  const isNeeded = (part: number): boolean => parts.has(part);
  const lastChanges = keptChanges(manifest, pending);
  const open = await openAnswers(damage, plan, { answers, isNeeded, lastChanges });
  try {
    yield* makeLocalParts(
      {
        job,
        sinks: [],
        startedAtMs: manifest.startedAtMs ?? 0,
        sources: prepared.inputs.map(({ name }) => name),
        parts: {
          scratch: job.output.dir,
          firstPart: 0,
          isNeeded,
          isLast: () => parts.has(manifest.parts - 1),
          entries: () => entriesWith(damage, plan),
        },
      },
      open.local,
      context,
    );
  } finally {
    await open.close();
  }
}

/** What the manifest says of the base, with the parts as they are now. */
function repairedAccount(
  { damage, plan }: PartsToRequest,
  commits: readonly Commit[],
  without: ReadonlySet<number>,
): Manifest['base'] {
  const { account } = damage;
  const { known, classes } = plan;
  const now =
    known === undefined ? account : baseAccount(account, { keys: plan.keys, choice: known.choice, classes }, commits);
  return { ...now, ...(without.size === 0 ? {} : { withoutBase: [...without].sort((a, b) => a - b) }) };
}
