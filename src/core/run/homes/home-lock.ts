import { thenCleanUp } from '../../../lib/end-work.ts';
import type { ExportStart } from '../../../places/export/export-facts.ts';
import { exportPaths, pathIn } from '../../../places/export/export-folder.ts';
import type { Job } from '../../job/job-schema.ts';
import type { Manifest } from '../../../places/export/manifest.ts';
import type { ExportContext } from '../export-context.ts';
import { alreadyComplete, type ExportOutcome } from '../complete-export.ts';
import { requireSame } from '../job-shape.ts';
import { isOverUnlisted } from '../tolerance.ts';
import type { ExportHome } from './export-home.ts';
import { ExportError } from '../../../lib/export-error.ts';
import { leavingNoFolder } from '../../../places/files/lock.ts';
import { commandLine } from '../../../lib/addresses/shown-text.ts';

/** The outcome of a run whose export is complete already. @throws {ExportError} when it began with another job or inputs */
export async function completeBefore(
  home: ExportHome,
  now: Pick<ExportStart, 'job' | 'inputs'>,
  tolerance: Job['tolerance'],
): Promise<ExportOutcome | undefined> {
  const finished = await home.readManifest();
  if (finished === undefined) return undefined;
  requireSame(home.name, finished, now);
  // The run that gave it its name may have been stopped before that was safe; after this the log goes.
  await home.syncManifest();
  return alreadyComplete(home.name, await judgedAnew(home, finished, tolerance));
}

/** Takes back that an export was set aside, where more of the base may be unlisted now than when it was made. */
async function judgedAnew(home: ExportHome, manifest: Manifest, tolerance: Job['tolerance']): Promise<Manifest> {
  if (manifest.setAside === undefined || isOverUnlisted(manifest.base, tolerance)) return manifest;
  return home.replaceManifest({ ...manifest, setAside: undefined });
}

/** Does the work of a run while this process holds the export, and removes what is not needed after it. @throws {ExportError} `locked` */
export async function withLockedHome(
  home: ExportHome,
  { files, listener }: Pick<ExportContext, 'files' | 'listener'>,
  work: () => Promise<ExportOutcome>,
): Promise<ExportOutcome> {
  return leavingNoFolder(home.scratch, () => holding(home, { files, listener }, work));
}

async function holding(
  home: ExportHome,
  { files, listener }: Pick<ExportContext, 'files' | 'listener'>,
  work: () => Promise<ExportOutcome>,
): Promise<ExportOutcome> {
  await files.makeFolder(pathIn(home.scratch, exportPaths.run));
  const lock = await files.takeLock(home.scratch);
  return thenCleanUp({
    work,
    hasFailed: ({ error }) => error !== undefined,
    cleanUp: [
      (outcome) => {
        const ended = outcome?.state === 'already' ? 'complete' : outcome?.state;
        return home.clear(ended ?? 'refused', lock, (message) => {
          listener({ kind: 'warning', message });
        });
      },
      () => lock.release(),
    ],
  });
}

export function heldElsewhere(address: string): ExportError {
  return new ExportError('locked', `another process works on ${address}`, {
    todo: `Wait for it to end (${commandLine('status', address)} shows its progress), then run the same command again.`,
  });
}

/** Ends of a run that have nothing to do with what lies in the bucket. */
const ownEnds = ['hungUp', 'interrupted', 'terminated', 'spent', 'overrun', 'notTrusted'];

/**
 * The manifest that another process put in a bucket while this one failed; undefined where there is none. Who completes an export
 * removes its slices and logs, so a process that comes late finds any of them missing.
 * @param whenLost `end`: who finds that another process works on the export says so, whatever became of it since
 */
export async function completedElsewhere(
  { place, readManifest }: Pick<ExportHome, 'place' | 'readManifest'>,
  error: unknown,
  whenLost: 'end' | 'continue',
): Promise<Manifest | undefined> {
  if (!place.store.isShared || !(error instanceof ExportError) || ownEnds.includes(error.exit)) return undefined;
  if (whenLost === 'end' && error.exit === 'locked' && error.why?.kind !== 'startedOver') return undefined;
  return readManifest().catch(() => undefined);
}
