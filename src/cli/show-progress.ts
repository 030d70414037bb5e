import { createLogUpdate } from 'log-update';
import pino from 'pino';
import type { Clock } from '../lib/clock.ts';
import type { RunEvent, RunListener } from '../pipeline/run-events.ts';
import { addEvent, entriesDone, entriesTotal, newProgressState, type ProgressState } from './progress-state.ts';
import { etaText, progressBlock, type ProgressView } from './progress-text.ts';

export interface ProgressOptions {
  readonly clock: Clock;
  readonly creditsPerCall: number;
  readonly idsPerCall: number;
  /** Credits that the tightest limit still leaves after so many calls of this run. */
  readonly creditsLeft: (callsSent: number) => number | undefined;
  readonly logLevel: string;
}

export interface Progress {
  readonly listener: RunListener;
  /** A message between events. */
  tell(message: string): void;
  /** Takes the block away, or ends the log. */
  end(): void;
}

const redrawMs = 200;
const logMs = 30_000;
/** Speed is measured over this many redraws. */
const window = 25;

/** Shows a run on stderr: a block that is redrawn on a terminal, log lines elsewhere. */
export function showProgress(options: ProgressOptions): Progress {
  return process.stderr.isTTY ? progressOnTerminal(options) : progressInLog(options);
}

function progressOnTerminal(options: ProgressOptions): Progress {
  const state = newProgressState();
  const speed = speedometer(options.clock, state);
  const block = createLogUpdate(process.stderr);
  const draw = (): void => {
    block(progressBlock(viewOf(options, state, speed()), process.stderr.columns || 80));
  };
  const timer = setInterval(draw, redrawMs);
  timer.unref();
  return {
    listener: (event) => {
      addEvent(state, event);
    },
    tell: (message) => {
      block.clear();
      process.stderr.write(`${message}\n`);
      draw();
    },
    end: () => {
      clearInterval(timer);
      block.clear();
      block.done();
    },
  };
}

function progressInLog(options: ProgressOptions): Progress {
  const state = newProgressState();
  const speed = speedometer(options.clock, state);
  const log = pino(
    { level: options.logLevel, base: null, timestamp: pino.stdTimeFunctions.isoTime },
    pino.destination({ fd: 2, sync: true }),
  );
  const facts = () => {
    const view = viewOf(options, state, speed());
    return {
      ids: entriesDone(state),
      idsTotal: entriesTotal(state),
      idsPerSecond: Math.round(view.idsPerSecond),
      calls: state.callsSent,
      callsInFlight: state.callsInFlight,
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

function viewOf(options: ProgressOptions, state: ProgressState, idsPerSecond: number): ProgressView {
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
function speedometer(clock: Clock, state: ProgressState): () => number {
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
