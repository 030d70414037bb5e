/** What a process does because others may work on the export, on any machine: only an export in a bucket loads it. */

import { bucketFiles } from '../../../places/export/bucket-files.ts';
import type { ObjectStore } from '../../../places/objects/object-store.ts';
import type { ExportPlace } from './export-place.ts';

export { Heartbeat, readBeat } from '../../../places/log/heartbeat.ts';
export { probeStore } from '../../../places/objects/open-objects.ts';
export { CurrentStart } from './home-start.ts';
export { fetchAnswers, keepAnswers } from './kept-answers.ts';
export { mergedHistory, putHistory, readRunHistories } from './shared-history.ts';
export { requireDead, requireNoHolder, scratchId, sliceFolders } from './slice-holders.ts';

/** An export in a bucket, as what reads exports takes it. */
export function inBucket(store: ObjectStore, address: string): ExportPlace {
  return { files: bucketFiles(store, address), folder: address, store };
}
