import { isDeepStrictEqual } from 'node:util';
import { ExportError } from '../../lib/export-error.ts';
import { sliceNames } from '../../places/log/slice-log.ts';
import type { HomePlace } from '../../core/run/homes/home-place.ts';
import { requireSameSlices } from '../../core/run/homes/open-slices.ts';
import { type HomeStart, readStart, startBody } from '../../core/run/homes/home-start.ts';
import { requireSame } from '../../core/run/job-shape.ts';

/**
 * Says in the bucket which slices there are. It comes after them: what it names is there. An export that a run began keeps its
 * start, and gets the slices.
 */
export async function putStart(place: HomePlace, start: Omit<HomeStart, 'version' | 'encoding'>): Promise<void> {
  const { store, address } = place;
  while ((await store.putNew(sliceNames.start, startBody(start))) === 'taken') {
    const tag = (await store.look(sliceNames.start))?.tag;
    const begun = await readStart(place);
    if (begun === undefined || tag === undefined) continue;
    requireSame(address, begun, start);
    requireSameSlices(address, begun, start.entriesPerSlice);
    const { entries, slices } = start;
    if (begun.slices !== undefined) {
      if (isDeepStrictEqual(begun.slices, slices)) return;
      throw new ExportError('damaged', `${address}/${sliceNames.start} names other slices of the same ids`, {
        todo: 'Another version of asset-export wrote it: use that one, or start over with --fresh.',
      });
    }
    if ((await store.replace(sliceNames.start, startBody({ ...begun, entries, slices }), tag)) === 'put') return;
  }
}
