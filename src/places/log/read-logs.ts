import type { ObjectStore } from '../objects/object-store.ts';
import { inTurns } from '../objects/small-objects.ts';
import { SliceLog } from './slice-log.ts';
import { sliceNames, sliceOfLogFolder } from './slice-names.ts';

/** The logs of every slice that was ever claimed, read to their ends, by slice. */
export async function readLogs({ store }: { readonly store: ObjectStore }): Promise<Map<number, SliceLog>> {
  const slices: number[] = [];
  for await (const name of store.names(sliceNames.logs)) slices.push(...sliceOfLogFolder(name));
  const logs = new Map(slices.map((slice) => [slice, new SliceLog(store, slice)]));
  await inTurns([...logs.values()], async (log) => {
    await log.refresh();
  });
  return logs;
}
