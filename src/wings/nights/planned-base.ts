import { askedInputs } from './base/asked-list.ts';
import { findBase, reopenBase } from './base/open-base.ts';
import { entriesOf } from '../../core/ids/prepare-inputs.ts';
import type { Job } from '../../core/job/job-schema.ts';
import type { PlannedRefresh, PlanStanding } from '../../core/run/nights.ts';
import { exportPaths, pathIn } from '../../places/export/export-folder.ts';
import { callsLeft, partsAfter } from '../../core/run/calls-left.ts';
import { baseFiles } from './based-export.ts';
import { planRefresh } from './refresh-export.ts';
import { askedIdsForm } from './request-ids.ts';

/** Chooses as a run would, from the base that it would take. */
export async function plannedBase(
  job: Job,
  { prepared, home, progress, nowMs, context }: PlanStanding,
): Promise<PlannedRefresh | undefined> {
  const pinned = progress?.start.base;
  if (progress !== undefined && pinned === undefined) return undefined;
  const filesAt = baseFiles(job, context);
  const base = pinned === undefined ? await findBase(filesAt, job) : await reopenBase(filesAt, pinned, job);
  if (base === undefined) return undefined;
  const warnings: string[] = [];
  const { keys, choice, classes } = await planRefresh({
    job,
    base,
    startedAtMs: progress?.start.startedAtMs ?? nowMs,
    onWarning: (warning) => warnings.push(warning),
    entries: (seen) => entriesOf(job, prepared, { seen }),
  });
  const whole = { calls: Math.ceil(choice.total / job.service.idsPerCall), sent: 0 };
  const { calls, sent } = progress === undefined ? whole : await askedLeft({ job, home, context }, whole.calls);
  const { asked, filledUp, carried, overdue, stillMissing, unlisted } = choice;
  const named = classes.all.map(({ when }, at) => ({
    when,
    ...(choice.classes[at] ?? { rows: 0, asked: 0 }),
  }));
  return {
    planned: {
      folder: base.folder,
      rows: keys.rows,
      asked,
      filledUp,
      carried,
      overdue,
      stillMissing,
      unlisted,
      classes: named,
      memoryBytes: keys.table.bytes,
    },
    calls,
    asked: choice.total,
    sent,
    seal: base.seal,
    warnings,
  };
}

/** Calls that an export with a base still has to send, and those that it has sent. Calls without an answer are sent again. */
async function askedLeft(
  { job, home, context: { files } }: Pick<PlanStanding, 'home' | 'context'> & { readonly job: Job },
  whole: number,
): Promise<{ calls: number; sent: number }> {
  const inner = home.asked();
  const done = await inner.readManifest();
  if (done !== undefined) return { calls: 0, sent: done.calls };
  const progress = await inner.readProgress();
  if (progress === undefined) return { calls: whole, sent: 0 };
  const sent = progress.spent.calls;
  const path = pathIn(home.scratch, exportPaths.askedIds);
  // On another disk nothing says which calls were answered.
  if ((await files.sizeOf(path)) === undefined) return { calls: Math.max(0, whole - sent), sent };
  const entries = entriesOf({ ...job, ids: askedIdsForm }, await askedInputs(files, path));
  const left = { ...partsAfter(progress.commits), kept: await inner.readAnswers() };
  return { calls: (await callsLeft(entries, job, left)).calls, sent };
}
