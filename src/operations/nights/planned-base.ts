import type { Choice } from '../../base/choose-ids.ts';
import { findBase, reopenBase } from '../../base/open-base.ts';
import { entriesOf } from '../../ids/mark-duplicates.ts';
import type { PreparedInputs } from '../../ids/prepare-inputs.ts';
import type { Job } from '../../job/job-schema.ts';
import type { ExportHome, ExportProgress } from '../homes/export-home.ts';
import type { HomeContext } from '../homes/open-home.ts';
import { baseFiles } from './based-export.ts';
import { planRefresh } from './refresh-export.ts';

export interface PlannedBase {
  readonly folder: string;
  /** Rows of the base. */
  readonly rows: number;
  readonly asked: Choice['asked'];
  /** Fresh rows that fill the last call up, of `asked.stale`. */
  readonly filledUp: number;
  readonly carried: number;
  readonly overdue: number;
  readonly stillMissing: number;
  /** By class, as `Choice.classes` counts them. */
  readonly classes: readonly ({ readonly when: readonly string[] } & Choice['classes'][number])[];
  /** Credits of an export without a base. */
  readonly creditsForAll: number;
  /** Memory of the table of ids. */
  readonly memoryBytes: number;
}

interface PlanStanding {
  readonly prepared: PreparedInputs;
  readonly home: ExportHome;
  readonly progress: ExportProgress | undefined;
  readonly nowMs: number;
  readonly context: HomeContext;
}

/** Chooses as a run would, from the base that it would take. */
export async function plannedBase(
  job: Job,
  { prepared, home, progress, nowMs, context }: PlanStanding,
): Promise<{ planned: Omit<PlannedBase, 'creditsForAll'>; calls: number; asked: number; sent: number } | undefined> {
  const pinned = progress?.start.base;
  if (progress !== undefined && pinned === undefined) return undefined;
  const filesAt = baseFiles(job, context);
  const base = pinned === undefined ? await findBase(filesAt, job) : await reopenBase(filesAt, pinned, job);
  if (base === undefined) return undefined;
  const { keys, choice, classes } = await planRefresh({
    ...{ job, base, startedAtMs: progress?.start.startedAtMs ?? nowMs, onWarning: () => undefined },
    entries: (seen) => entriesOf(job, prepared, { seen }),
  });
  const inner = home.asked();
  const whole = Math.ceil(choice.total / job.service.idsPerCall);
  const done = await inner.readManifest();
  const sent = done?.calls ?? (await inner.readProgress())?.spent.calls ?? 0;
  const { asked, filledUp, carried, overdue, stillMissing } = choice;
  const named = classes.all.map(({ when }, at) => ({
    when,
    ...(choice.classes[at] ?? { rows: 0, asked: 0, stale: 0 }),
  }));
  return {
    planned: {
      ...{ folder: base.folder, rows: keys.rows, asked, filledUp, carried, overdue, stillMissing },
      ...{ classes: named, memoryBytes: keys.table.bytes },
    },
    ...{ calls: done === undefined ? Math.max(0, whole - sent) : 0, asked: choice.total, sent },
  };
}
