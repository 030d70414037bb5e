import { type Watch, watchHolder } from '../../../places/log/heartbeat.ts';
import { type SliceLog, readLogs, sliceNames } from '../../../places/log/slice-log.ts';
import { exportPaths, pathIn } from '../../../places/export/export-folder.ts';
import { heldElsewhere } from './home-lock.ts';
import type { PartsContext } from '../../work/parts-context.ts';

/** Where slices are made on this disk. */
export interface LocalScratch extends Pick<PartsContext, 'files'> {
  readonly scratch: string;
}

/** An export in a bucket, whose holders are watched. */
export interface WatchedPlace extends LocalScratch, Pick<Watch, 'store' | 'clock' | 'deadAfterSeconds'> {
  readonly address: string;
}

/** The scratch folders of slices on this disk. */
export async function sliceFolders({ files, scratch }: LocalScratch): Promise<string[]> {
  const names = await files.list(scratch);
  return names.filter((name) => /^\d{5,}$/.test(name)).map((name) => pathIn(scratch, name));
}

/** The id of a scratch folder: whoever holds its lock follows a holder that named it. Made when there is none. */
export async function scratchId(files: LocalScratch['files'], folder: string): Promise<string> {
  const path = pathIn(folder, `${exportPaths.run}/scratch`);
  const known = await files.readAll(path);
  if (known !== undefined && known.length === 36) return Buffer.from(known).toString('latin1');
  const id = crypto.randomUUID();
  const file = await files.open(path, 'create');
  try {
    await file.write(Buffer.from(id));
    await file.sync();
  } finally {
    await file.close();
  }
  await files.syncFolder(pathIn(folder, exportPaths.run));
  return id;
}

/** The id of a slice's scratch folder on this disk; undefined when there is none. */
export async function ownScratchId({ files, scratch }: LocalScratch, slice: number): Promise<string | undefined> {
  const id = await files.readAll(pathIn(scratch, `${sliceNames.scratch(slice)}/${exportPaths.run}/scratch`));
  return id === undefined ? undefined : Buffer.from(id).toString('latin1');
}

/** Waits until a holder shows that it lives, or counts as dead. @throws {ExportError} `locked` when it lives */
export async function requireDead(place: WatchedPlace, log: SliceLog, stop: AbortSignal): Promise<void> {
  const { store, clock, deadAfterSeconds } = place;
  const state = await watchHolder({ store, log, clock, deadAfterSeconds, stop });
  if (state === 'alive') throw heldElsewhere(place.address);
}

/** @throws {ExportError} `locked` when a process makes parts of the export; the reason of `stop` */
export async function requireNoHolder(place: WatchedPlace, stop: AbortSignal): Promise<void> {
  for (const log of (await readLogs(place)).values()) {
    const { holder } = log.state;
    if (holder === undefined) continue;
    if ((await ownScratchId(place, log.slice)) === holder.scratch) continue;
    await requireDead(place, log, stop);
  }
}
