import type { RunListener } from '../pipeline/run-events.ts';
import type { FileStore } from '../store/file-store.ts';
import { writeHolding } from '../store/holding-file.ts';
import { addEvent, holdingOf, newProgressState } from './progress-state.ts';

const everyMs = 1000;

/**
 * Tells `status`, each second, what a run holds in memory. Only while it holds something: at the end it holds nothing, so that
 * nothing is written into a folder that is being cleared.
 */
export function tellHolding(files: FileStore, folder: string): { listener: RunListener; end: () => void } {
  const state = newProgressState();
  const timer = setInterval(() => {
    const { bytes, isFull } = holdingOf(state);
    if (bytes === 0) return;
    // A disk that cannot take it says so at the next part.
    writeHolding(files, folder, { bytesInFlight: Math.round(bytes), callsHeldBack: isFull }).catch(() => undefined);
  }, everyMs);
  timer.unref();
  return {
    listener: (event) => {
      if (event.kind === 'holding') addEvent(state, event);
    },
    end: () => {
      clearInterval(timer);
    },
  };
}
