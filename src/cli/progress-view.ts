import type { Clock } from '../lib/clock.ts';
import type { ProgressState } from './progress-state.ts';
import type { ProgressView } from './progress-text.ts';
import type { ProgressOptions } from './progress.ts';

/** Speed is measured over this many looks. */
const window = 25;

/** What the block and the log show of a run at this moment. */
export function progressView(options: ProgressOptions, state: ProgressState, idsPerSecond: number): ProgressView {
  const { clock, creditsPerCall, idsPerCall } = options;
  return {
    state,
    idsPerSecond,
    nowMs: clock.now(),
    creditsPerCall,
    creditsLeft: options.creditsLeft(state.callsSent),
    idsPerCall,
  };
}

/** Ids a second between the oldest and the newest of the last samples. */
export function speedometer(clock: Clock, state: ProgressState): () => number {
  const samples = [{ ms: clock.now(), ids: 0 }];
  return () => {
    samples.push({ ms: clock.now(), ids: state.idsAnswered });
    if (samples.length > window) samples.shift();
    const [oldest] = samples;
    const newest = samples.at(-1);
    if (oldest === undefined || newest === undefined || newest.ms === oldest.ms) return 0;
    return ((newest.ids - oldest.ids) / (newest.ms - oldest.ms)) * 1000;
  };
}
