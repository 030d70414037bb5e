import pino from 'pino';
import type { RunEvent } from '../pipeline/run-events.ts';
import { addEvent, entriesDone, entriesTotal, holdingOf, newProgressState } from './progress-state.ts';
import { etaText } from './progress-text.ts';
import { progressView, speedometer } from './progress-view.ts';
import type { Progress, ProgressOptions } from './progress.ts';

const logMs = 30_000;

/** JSON lines on stderr: one at each change of state, and one every 30 seconds. */
export function progressInLog(options: ProgressOptions): Progress {
  const state = newProgressState();
  const speed = speedometer(options.clock, state);
  const log = pino(
    { level: options.logLevel, base: null, timestamp: pino.stdTimeFunctions.isoTime },
    // A destination of pino's own throws what the system does not take, and keeps it for the next attempt.
    process.stderr,
  );
  const facts = () => {
    const view = progressView(options, state, speed());
    const holding = holdingOf(state);
    return {
      ids: entriesDone(state),
      idsTotal: entriesTotal(state),
      idsPerSecond: Math.round(view.idsPerSecond),
      calls: state.callsSent,
      callsInFlight: state.callsInFlight,
      bytesInFlight: holding.bytes,
      callsHeldBack: holding.isFull,
      creditsUsed: state.callsSent * options.creditsPerCall,
      creditsLeft: view.creditsLeft,
      retries: state.retries,
      parts: state.partsCommitted,
      eta: etaText(view),
    };
  };
  const timer = setInterval(() => {
    log.info(facts(), 'exporting');
  }, logMs);
  timer.unref();
  return {
    listener: (event) => {
      addEvent(state, event);
      logEvent(log, event);
    },
    tell: (message) => {
      log.info(message);
    },
    end: () => {
      clearInterval(timer);
    },
  };
}

/** Changes of state are told; single calls only to those who ask for them. */
function logEvent(log: pino.Logger, event: RunEvent): void {
  const { kind, ...facts } = event;
  if (event.kind === 'committed') log.info({ part: event.commit.part, ...event.commit.counts }, 'part committed');
  else if (event.kind === 'opened')
    log.info(facts, event.parts === 0 && event.answers === 0 ? 'export begins' : 'export continues');
  else if (event.kind === 'paused' || event.kind === 'waiting' || event.kind === 'shrunk') log.warn(facts, kind);
  else if (event.kind === 'retry') log.debug(facts, kind);
  else log.trace(facts, kind);
}
