import { exportPaths, pathIn } from '../../store/export-folder.ts';
import { parseRunLines, type RunLine, runLineText } from '../../store/runs/run-lines.ts';
import { sliceNames } from '../../slices/slice-names.ts';
import { bytesOf, namesOf } from './bucket-bytes.ts';
import type { BucketPlace } from './bucket-place.ts';
import { scratchId } from './slice-holders.ts';

/** Puts this process's record of runs into the bucket, where `status` reads it. */
export async function putRecord({ files, store, scratch, recordFolder = scratch }: BucketPlace): Promise<void> {
  const bytes = await files.readAll(pathIn(recordFolder, exportPaths.runLines));
  if (bytes !== undefined) await store.put(sliceNames.record(await scratchId(files, recordFolder)), { bytes });
}

/** The records of all processes as one, in the order in which their runs began. */
export async function mergedRecord(place: BucketPlace): Promise<Buffer> {
  await putRecord(place);
  return Buffer.from(runLineText(await readRecords(place)));
}

/** The lines of all records in the bucket. */
export async function readRecords({ store }: Pick<BucketPlace, 'store'>): Promise<RunLine[]> {
  const lines: RunLine[] = [];
  for (const name of await namesOf(store, sliceNames.records))
    lines.push(...parseRunLines((await bytesOf(store, name)).toString('utf8')));
  return inOrder(lines);
}

/** Sorts runs by their start and numbers them anew. */
function inOrder(lines: readonly RunLine[]): RunLine[] {
  const runs: { startMs: number; lines: RunLine[] }[] = [];
  for (const line of lines) {
    if (line.kind === 'run') runs.push({ startMs: line.startMs, lines: [] });
    runs.at(-1)?.lines.push(line);
  }
  runs.sort((a, b) => a.startMs - b.startMs);
  return runs.flatMap((run, index) =>
    run.lines.map((line) => (line.kind === 'run' ? { ...line, n: index + 1 } : line)),
  );
}
