import { thenCleanUp } from '../../lib/clean-up.ts';
import { exportPaths, pathIn } from '../../store/export-folder.ts';
import type { ExportContext } from '../../work/export-context.ts';
import type { ExportOutcome } from '../export-outcome.ts';
import type { ExportHome } from './export-home.ts';

/** Does the work of a run while this process holds the export, and removes what is not needed after it. @throws {ExportError} `locked` */
export async function holdingHome(
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
