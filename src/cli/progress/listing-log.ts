import { safeText } from '../../lib/addresses/shown-text.ts';
import type { ListEvent, ListIdsRequest } from '../../wings/listing/index.ts';
import type { Terminal } from '../stop-signals.ts';
import { toldOf, type ShownListing } from './listing-progress.ts';
import { logEvent, logEveryMs, openLog } from './progress-log.ts';

/** How a list is logged: JSON lines on stderr, as those of a run. */
export interface LoggedListing {
  readonly level: string;
  /** In each line, so that a log store can tell lists apart. */
  readonly base: { readonly run: string; readonly list: string; readonly version: string };
}

/** A line at each change, and one every 30 seconds with how far the list is. */
export function listingInLog(
  { dialect }: Pick<ListIdsRequest, 'dialect'>,
  { level, base }: LoggedListing,
  destination: Terminal['stderr'],
): ShownListing {
  const log = openLog(level, base, destination);
  let latest: Extract<ListEvent, { kind: 'answered' }> | undefined;
  const timer = setInterval(() => {
    if (latest === undefined) return;
    const { counts, calls, credits } = latest;
    const { members, pages, emptyPages } = counts;
    log.info({ members, pages, emptyPages, calls, credits }, 'listing');
  }, logEveryMs);
  timer.unref();
  return {
    tell: (message) => {
      log.info(message);
    },
    onEvent: (event) => {
      if (event.kind === 'answered') latest = event;
      const { kind, ...facts } = event;
      const message = toldOf(event, dialect);
      if (kind === 'warning') log.warn(safeText(event.message));
      else log[kind === 'answered' ? 'trace' : 'info'](facts, message ?? (kind === 'opened' ? 'list started' : kind));
    },
    listener: (event) => {
      logEvent(log, event);
    },
    end: () => {
      clearInterval(timer);
    },
    logEnd: (end, endLevel) => {
      log[endLevel](end, 'list ended');
    },
  };
}
