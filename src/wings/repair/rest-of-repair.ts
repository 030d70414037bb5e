import type { PreparedInputs } from '../../core/ids/prepare-inputs.ts';
import { systemClock } from '../../lib/clock.ts';
import { ExportError } from '../../lib/export-error.ts';
import { formats } from '../../core/formats/sink.ts';
import type { Manifest } from '../../places/export/manifest.ts';
import type { ExportContext } from '../../core/run/export-context.ts';
import type { HomeContext } from '../../core/run/homes/open-home.ts';
import { joinOf } from '../../core/run/job-shape.ts';
import { listBasedParts } from './list-based-parts.ts';
import { type BasedDamage, planBasedRepair } from './plan-based-repair.ts';
import { rebuildFromBase } from './rebuild-from-base.ts';
import type { RepairBill, RequestedParts } from './repair-outcome.ts';
import { requestBasedParts } from './request-based-parts.ts';
import { billOf, requestAgain } from './request-parts.ts';

/** What other files of the same part could not give. */
interface RestOfRepair {
  /** Files that were rebuilt from the base. */
  readonly rebuilt: readonly string[];
  readonly notes: readonly string[];
  /** Absent where no part has to be made again, or none can be. */
  readonly bill?: RepairBill;
  readonly request: (context: ExportContext) => Promise<RequestedParts>;
}

type RestEffects = Pick<HomeContext, 'files' | 'openStore' | 'abort'>;

/** Rebuilds what the base gives, and counts what has to be requested. @throws {ExportError} `usage` for parts that cannot be made again */
export async function restOf(
  damage: Omit<BasedDamage, 'account' | 'prepared'>,
  prepared: PreparedInputs | undefined,
  effects: RestEffects,
): Promise<RestOfRepair | undefined> {
  const { finished, damaged, job } = damage;
  const { manifest, folder } = finished;
  const parts = new Set(manifest.files.filter(({ path }) => damaged.has(path)).map(({ part }) => part));
  if (prepared === undefined || parts.size === 0) return undefined;
  requireOwnFormats(manifest, folder);
  requireOwnParts(manifest, folder);
  const { base: account } = manifest;
  if (account !== undefined) return restWithBase({ ...damage, prepared, account }, effects);
  const request = { job, prepared, manifest, parts };
  const bill = await billOf(request, effects.files);
  return { rebuilt: [], notes: [], bill, request: (context) => requestAgain(request, context) };
}

/** Of an export with a base: its rows cost nothing. */
async function restWithBase(damage: BasedDamage, effects: RestEffects): Promise<RestOfRepair> {
  const plan = await planBasedRepair(damage, { ...effects, clock: systemClock, random: Math.random });
  const rebuilt: string[] = [];
  for await (const path of rebuildFromBase(damage, plan)) rebuilt.push(path);
  const listed = await listBasedParts(damage, plan);
  const notes = damage.damaged.size === 0 ? [] : [...plan.notes, ...listed.notes];
  const bill = listed.parts.size === 0 ? {} : { bill: listed.bill };
  const request = (context: ExportContext): Promise<RequestedParts> => requestBasedParts(listed, context);
  return { rebuilt, notes, ...bill, request };
}

/** @throws {ExportError} `usage` for an export with custom formats: only its program can make a part of it */
function requireOwnFormats({ files }: Manifest, folder: string): void {
  const custom = files.find(({ format }) => !formats.some((each) => each === format));
  if (custom === undefined) return;
  throw new ExportError('usage', `${folder} has files in the format ${custom.format}, which a program added`, {
    todo: 'Run the export again from that program with fresh: true.',
  });
}

/** @throws {ExportError} `usage` for parts that were joined: ids are not cut into such */
function requireOwnParts({ job }: Manifest, folder: string): void {
  if (joinOf(job) === 1) return;
  throw new ExportError('usage', `the parts of ${folder} were joined by rebuild: they cannot be requested again`, {
    todo: 'Rebuild it from its source with --fresh.',
  });
}
