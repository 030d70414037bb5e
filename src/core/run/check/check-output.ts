import type { Job } from '../../job/job-schema.ts';
import { isBucketAddress } from '../../../lib/addresses/address-kinds.ts';
import { shownPath } from '../../../lib/addresses/shown-text.ts';
import { probeStore } from '../../../places/objects/open-objects.ts';
import { probeFolder } from '../../../places/files/folder-place.ts';
import type { ExportStanding } from '../history/export-standing.ts';
import { standingIfAny } from '../homes/standing.ts';
import { type HomeContext, openHome } from '../homes/open-home.ts';
import { jobShape, requireSame } from '../job-shape.ts';
import { requireFollowable } from '../night-follower.ts';
import { nightsFor } from '../nights.ts';
import type { RunWings } from '../run-wings.ts';
import { fingerprintInputs } from '../../ids/read/input-bytes.ts';
import type { CheckedIds } from './check-ids.ts';
import type { OtherClock } from './check-clock.ts';
import type { Fact } from './fact.ts';

/**
 * Sees that an export can be written to its place. What is made for that is removed.
 * @param outputDir `output.dir` as the job has it, with `{date}`
 * @param inputs the lists, which are compared whole with those of an export that began; undefined where they were not read
 * @throws {ExportError} `usage` where other files are, or a store overwrites; `cannotWrite`, `unavailable`
 */
export async function checkOutput(
  job: Job,
  context: HomeContext & RunWings,
  { outputDir, inputs }: { readonly outputDir: string | undefined; readonly inputs: CheckedIds['inputs'] },
): Promise<
  Fact & {
    readonly clock?: OtherClock;
  }
> {
  const nights = await nightsFor(job, context.nights);
  const { dir } = job.output;
  const shown = shownPath(dir, process.cwd());
  const home = await openHome(job, context);
  await home.requireOwn();
  const standing = await standingIfAny(home.place, context.clock.now());
  const begun = standing !== undefined && 'manifest' in standing ? standing.manifest : standing?.start;
  if (begun !== undefined) {
    const now = inputs === undefined ? begun.inputs : await fingerprintInputs(inputs);
    requireSame(home.name, begun, { job: jobShape(job), inputs: now });
  }
  await requireFollowable({ job, outputDir: outputDir ?? job.output.dir }, context);
  const holder = begun === undefined ? [] : holderOf(standing);
  if (!isBucketAddress(dir)) {
    const exists = await probeFolder(dir, 'hard');
    await nights?.requireLatestFree(job, context);
    return { fact: `${shown} can be ${exists ? 'written' : 'created'}`, warnings: holder };
  }
  const { store } = home.place;
  const { canReplace, canRemove, putAtMs } = await probeStore(store, dir);
  const clock = putAtMs === undefined ? {} : { clock: { aheadMs: context.clock.now() - putAtMs, of: 'the store' } };
  await nights?.requireLatestFree(job, context);
  return {
    fact: `${shown} can be written; a second put of the same name was refused`,
    warnings: [
      ...holder,
      ...(canRemove ? [] : ['Delete is not allowed: the probe stays in .run/probe/']),
      ...(canReplace ? [] : ['objects cannot be replaced by their ETag: a damaged part needs verify --repair']),
    ],
    ...clock,
  };
}

/** Who works on an export: a run would end at once. */
function holderOf(standing: ExportStanding | undefined): string[] {
  if (standing === undefined || 'manifest' in standing) return [];
  const { owner, fleet } = standing;
  if (owner === undefined || fleet !== undefined) return [];
  return [`process ${owner.pid} on ${owner.host} works on it: another run would end with exit 11`];
}
