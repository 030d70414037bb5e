import { entriesOf } from '../../core/ids/mark-duplicates.ts';
import type { PreparedInputs } from '../../core/ids/prepare-inputs.ts';
import type { Job } from '../../core/job/job-schema.ts';
import { ExportError } from '../../lib/export-error.ts';
import { exportPaths, pathIn } from '../../places/export/export-folder.ts';
import type { FileStore } from '../../places/files/file-store.ts';
import { readJournals } from '../../places/scratch/journal-entries.ts';
import { openJournal } from '../../places/scratch/journal.ts';
import { type Manifest, writeManifest } from '../../places/export/manifest.ts';
import { publishFiles } from '../../places/scratch/part-file.ts';
import { openTally, type Tally } from '../../places/scratch/tally.ts';
import { readJobIds, newReadProgress } from '../../core/work/read-job-ids.ts';
import type { ExportContext } from '../../core/run/export-context.ts';
import { makeParts } from '../../core/work/make-parts.ts';
import { callsLeft } from '../../core/run/calls-left.ts';
import { manifestCommits, manifestOf } from '../../core/run/complete-export.ts';
import { beginPlan } from '../../core/run/run-brake.ts';
import type { RepairBill, RequestedParts } from './repair-outcome.ts';

/** The cost of requesting all ids of some parts. Kept answers cost nothing. */
export async function billOf(
  { job, prepared, parts }: Pick<Remaking, 'job' | 'prepared' | 'parts'>,
  files: FileStore,
): Promise<RepairBill> {
  const kept = await readJournals(files, [job.output.dir]);
  const { calls } = await callsLeft(entriesOf(job, prepared), job, { isNeeded: (part) => parts.has(part), kept });
  return { calls, credits: calls * job.budget.creditsPerCall };
}

/** Requests all ids of some parts within the budget, and makes these parts. */
export async function requestAgain(
  request: Omit<Remaking, 'calls' | 'credits'>,
  context: ExportContext,
): Promise<RequestedParts> {
  const { files } = context;
  const folder = request.job.output.dir;
  await (await files.open(pathIn(folder, exportPaths.repairing), 'create')).close();
  await files.syncFolder(pathIn(folder, exportPaths.run));
  const sums = await openSums(files, folder, request.manifest);
  const began = { calls: sums.calls.total(), credits: sums.credits.total() };
  const parts: number[] = [];
  let error: ExportError | undefined;
  try {
    for await (const part of remadeParts({ ...request, ...sums }, context)) parts.push(part);
  } catch (reason) {
    if (!(reason instanceof ExportError)) throw reason;
    error = reason;
  } finally {
    await sums.calls.close();
    await sums.credits.close();
  }
  return {
    parts,
    calls: sums.calls.total() - began.calls,
    credits: sums.credits.total() - began.credits,
    ...(error === undefined ? {} : { error }),
  };
}

interface Remaking {
  readonly job: Job;
  readonly prepared: PreparedInputs;
  readonly manifest: Manifest;
  readonly parts: ReadonlySet<number>;
  readonly calls: Tally;
  readonly credits: Tally;
}

/** Makes the parts and yields the number of each once it is in the manifest. */
async function* remadeParts(remaking: Remaking, context: ExportContext): AsyncGenerator<number, void, void> {
  const { job, prepared, manifest, parts, calls, credits } = remaking;
  const { files } = context;
  const folder = job.output.dir;
  const commits = manifestCommits(manifest);
  const startedAtMs = manifest.startedAtMs ?? 0;
  const start = { job: manifest.job, inputs: manifest.inputs, startedAtMs };
  const journal = await openJournal(files, folder);
  await beginPlan(context, job);
  try {
    const made = makeParts(
      {
        job,
        sinks: [],
        startedAtMs,
        sources: prepared.inputs.map(({ name }) => name),
        parts: {
          scratch: folder,
          journal,
          calls,
          credits,
          firstPart: 0,
          isNeeded: (part) => parts.has(part),
          entries: () => readJobIds(job, prepared, newReadProgress(), context.listener),
        },
      },
      context,
    );
    for await (const { part } of made) {
      commits[part.part] = { ...part, inputBytes: 0 };
      const names = part.files.map(({ path }) => path);
      await publishFiles(files, folder, names);
      const spent = { calls: calls.total(), credits: credits.total() };
      const { version } = context;
      const { rebuilt } = manifest;
      await writeManifest(files, folder, manifestOf({ job, start, commits, ...spent, version, rebuilt }));
      await files.remove(pathIn(folder, exportPaths.journal(part.part)));
      yield part.part;
    }
  } finally {
    await journal.close();
  }
}

/** The sums go on from the manifest, and from a repair that was stopped. */
async function openSums(
  files: FileStore,
  folder: string,
  manifest: Manifest,
): Promise<{ calls: Tally; credits: Tally }> {
  const calls = await openTally(files, pathIn(folder, exportPaths.callCount));
  const credits = await openTally(files, pathIn(folder, exportPaths.creditCount));
  await calls.add(Math.max(0, manifest.calls - calls.total()));
  await credits.add(Math.max(0, manifest.credits - credits.total()));
  return { calls, credits };
}
