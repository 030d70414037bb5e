import { firstNight } from '../../job/job-base.ts';
import type { Job } from '../../job/job-schema.ts';
import { ExportError } from '../../lib/export-error.ts';
import { plural } from '../../lib/format-text.ts';
import { commandLine, shownPath } from '../../lib/shown-path.ts';
import { inTurns } from '../../objects/small-objects.ts';
import { pathIn } from '../../store/export-folder.ts';
import type { HomeContext } from '../homes/open-home.ts';
import { openHome } from '../homes/open-home.ts';
import { baseOf, newBase } from '../nights/based-export.ts';
import type { Fact } from './fact.ts';

export interface CheckedBase extends Fact {
  readonly isThere: boolean;
}

/** Finds the base of a job, and sees that its files are there with their sizes. @throws {ExportError} `input`, `usage`, `damaged` */
export async function checkBase(job: Job, context: HomeContext): Promise<CheckedBase> {
  if (job.base.from === undefined) return { fact: 'none', isThere: false };
  const home = await openHome(job, context);
  // An unfinished export keeps the base that it began with.
  const begun = (await home.readManifest()) === undefined ? (await home.readProgress())?.start : undefined;
  const base = begun === undefined ? await newBase(job, context) : await baseOf(job, { home, context }, begun);
  if (base === undefined) {
    const first = firstNight(job, false);
    return { fact: 'none', isThere: false, warnings: first === undefined ? [] : [first] };
  }
  const { recordFiles } = await import('../../finished/records.ts');
  const { files, folder, manifest } = base.finished;
  const shown = shownPath(folder, process.cwd());
  await inTurns(recordFiles(base.finished), async ({ path, bytes }) => {
    const size = await files.sizeOf(pathIn(folder, path));
    if (size === bytes) return;
    const now = typeof size === 'number' ? `has ${size} bytes instead of ${bytes}` : 'is missing';
    throw new ExportError('damaged', `the base ${shown} is damaged: ${path} ${now}`, {
      todo: `Repair it (${commandLine('verify', shown, '--repair')}), or name another base with --base.`,
    });
  });
  const { exported, carried } = manifest.counts;
  return { fact: `${shown}, ${plural(exported + carried, 'asset')}`, isThere: true };
}
