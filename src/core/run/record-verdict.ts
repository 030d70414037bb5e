import type { Job } from '../job/job-schema.ts';
import { exitCodes } from '../../lib/exit-codes.ts';
import { messageOf } from '../../lib/export-error.ts';
import { readObjectIfThere } from '../../places/objects/object-store.ts';
import { exportPaths } from '../../places/export/export-folder.ts';
import { parseRunLines, type RunLine, runLineText } from './history/run-lines.ts';
import { openKeptHistory, lastRunOf } from './history/run-history.ts';
import type { ExportContext } from './export-context.ts';
import type { ExportOutcome } from './complete-export.ts';
import type { ExportPlace } from './homes/export-place.ts';
import { endLine } from './history/record-run.ts';
import { errorOf } from './tolerance.ts';

/**
 * A run that finds its export complete may judge it by other tolerances than the last one, or publish what that one could not. Where it then
 * ends with another exit code, the record of the last run gets its verdict: `status` and `report` read it there. A record that cannot be
 * written fails nothing.
 */
export async function recordVerdict(
  { place, job }: { readonly place: ExportPlace; readonly job: Job },
  outcome: ExportOutcome,
  { listener }: Pick<ExportContext, 'listener'>,
): Promise<void> {
  const error = errorOf(outcome, job);
  const exit = error?.exitCode ?? exitCodes.complete.code;
  const failure = await keptLines(place)
    .then(({ lines, append }) => {
      const last = lastRunOf(lines);
      if (last === undefined || (last.end?.exit ?? exitCodes.complete.code) === exit) return undefined;
      // The export was made when that run ended: its times stay.
      const t = last.endedMs - last.start.startMs;
      return append(endLine(t, { state: 'complete', exit, error: error?.message }));
    })
    .catch((thrown: unknown) => thrown);
  if (failure === undefined) return;
  const message = `${exportPaths.keptRunLines} still has the old verdict, and so have status and report: ${messageOf(failure)}`;
  listener({ kind: 'warning', message });
}

/** The record of a complete export, in a folder or a bucket. `append` resolves to why the line is not in it. */
async function keptLines({ disk, folder, store }: ExportPlace) {
  const name = exportPaths.keptRunLines;
  if (disk === undefined) {
    const lines = parseRunLines((await readObjectIfThere(store, name))?.toString() ?? '');
    const append = async (line: RunLine): Promise<undefined> => {
      await store.put(name, { bytes: Buffer.from(runLineText([...lines, line])) });
    };
    return { lines, append };
  }
  const record = await openKeptHistory(disk, folder);
  const append = async (line: RunLine) => {
    try {
      return await record.append([line]);
    } finally {
      await record.close();
    }
  };
  return { lines: record.earlier, append };
}
