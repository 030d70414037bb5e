import { exportPaths, pathIn } from '../../../places/export/export-folder.ts';
import { parseRunLines, type RunLine, runLineText } from '../history/run-lines.ts';
import { sliceNames } from '../../../places/log/slice-log.ts';
import { type ObjectStore, readObjectIfThere, namesOf } from '../../../places/objects/object-store.ts';
import { type LocalScratch, scratchId } from './slice-holders.ts';

/** Where a process's history of runs lies, and the bucket it goes to. */
export interface RecordPlace extends LocalScratch {
  readonly store: ObjectStore;
  /** `scratch` unless given. */
  readonly recordFolder?: string;
}

/**
 * Puts this process's history of runs into the bucket, where `status` reads it. It is taken back where the export is complete, and all records
 * have been merged and removed: a worker that was frozen wakes late, and a lost answer lets a put happen later.
 */
export async function putHistory(place: RecordPlace): Promise<void> {
  const { store } = place;
  const name = await putOwn(place);
  if (name !== undefined && (await store.look(exportPaths.keptRunLines)) !== undefined) await store.remove([name]);
}

async function putOwn({ files, store, scratch, recordFolder = scratch }: RecordPlace): Promise<string | undefined> {
  const bytes = await files.readAll(pathIn(recordFolder, exportPaths.runLines));
  if (bytes === undefined) return undefined;
  const name = sliceNames.record(await scratchId(files, recordFolder));
  await store.put(name, { bytes });
  return name;
}

/** The records of all processes as one, in the order in which their runs began. */
export async function mergedHistory(place: RecordPlace): Promise<Buffer> {
  await putOwn(place);
  return Buffer.from(runLineText(await readRunHistories(place)));
}

/** The lines of all records in the bucket. One that is gone was merged by who completed the export. */
export async function readRunHistories({ store }: Pick<RecordPlace, 'store'>): Promise<RunLine[]> {
  const lines: RunLine[] = [];
  for (const name of await namesOf(store, sliceNames.records))
    lines.push(...parseRunLines((await readObjectIfThere(store, name))?.toString('utf8') ?? ''));
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
