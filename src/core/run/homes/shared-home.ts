/** What a process does because others may work on the export, on any machine: only an export in a bucket loads it. */

export { Heartbeat, readBeat } from '../../../places/log/heartbeat.ts';
export { probeStore } from '../../../places/objects/open-objects.ts';
export { CurrentStart } from './home-start.ts';
export { fetchAnswers, keepAnswers } from './kept-answers.ts';
export { mergedHistory, putHistory, readRunHistories } from './shared-history.ts';
export { requireDead, requireNoHolder, scratchId, sliceFolders } from './slice-holders.ts';
