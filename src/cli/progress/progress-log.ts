import pino from 'pino';
import { safeText } from '../../lib/addresses/shown-text.ts';
import type { RunEvent } from '../../core/work/run-events.ts';
import type { ProgressFacts } from './progress-text.ts';
import { ProgressState, replayText } from './progress-state.ts';
import type { LoggedRun, Progress, ProgressOptions } from './progress.ts';

/** What a long command logs while nothing changes, comes so often. */
export const logEveryMs = 30_000;
/** The speed is sampled more often than it is logged. */
const lookMs = 1000;
const looksALine = logEveryMs / lookMs;

/** JSON lines on stderr: one at each change of state, and one every 30 seconds. */
export function progressInLog(
  options: ProgressOptions,
  logged: LoggedRun,
  // A destination of pino's own throws what the system does not take, and keeps it for the next attempt.
  destination: pino.DestinationStream,
): Progress {
  const state = new ProgressState(options);
  const log = openLog(options.logLevel, logged, destination);
  const facts = (seen: ProgressFacts) => {
    const holding = state.holding();
    return {
      ids: seen.done,
      idsTotal: seen.total,
      ...(seen.totalExact ? {} : { idsTotalExact: false }),
      idsPerSecond: Math.round(seen.idsPerSecond),
      calls: seen.calls,
      callsInFlight: seen.callsInFlight,
      callsAtOnce: seen.callsAtOnce,
      bytesInFlight: holding.bytes,
      ...(holding.isFull ? { callsHeldBack: true } : {}),
      creditsLeft: seen.creditsLeft,
      retries: seen.retries,
      ...etaFacts(seen),
    };
  };
  let looks = 0;
  const timer = setInterval(() => {
    const seen = state.look();
    looks += 1;
    if (looks % looksALine === 0) log.info(facts(seen), 'exporting');
  }, lookMs);
  timer.unref();
  return {
    listener: (event) => {
      state.add(event);
      logEvent(log, event);
    },
    tell: (message) => {
      log.info(message);
    },
    end: () => {
      clearInterval(timer);
    },
    logEnd: (end, level) => {
      log[level](end, 'export ended');
    },
  };
}

/** JSON lines. @param base is in each of them */
export function openLog(level: string, base: object, destination: pino.DestinationStream): pino.Logger {
  return pino(
    { level, base, timestamp: pino.stdTimeFunctions.isoTime, formatters: { level: (name) => ({ level: name }) } },
    destination,
  );
}

/** When the run will end, or when its credits will; nothing while that is unknown. */
function etaFacts({ left }: ProgressFacts): object {
  if (left === undefined) return {};
  const seconds = Math.round(left.ms / 1000);
  return left.ends === 'ids' ? { etaSeconds: seconds } : { budgetEndsInSeconds: seconds };
}

/** Changes of state are logged; single calls only at a finer level. */
const levels: Readonly<Record<RunEvent['kind'], 'info' | 'warn' | 'debug' | 'trace'>> = {
  opened: 'info',
  committed: 'info',
  pruned: 'info',
  paused: 'warn',
  waiting: 'warn',
  shrunk: 'warn',
  service: 'warn',
  unrecorded: 'warn',
  warning: 'warn',
  retry: 'debug',
  failed: 'debug',
  sent: 'trace',
  limit: 'debug',
  answered: 'trace',
  replayed: 'trace',
  read: 'trace',
  settled: 'trace',
  holding: 'trace',
};

export function logEvent(log: pino.Logger, event: RunEvent): void {
  const { kind, ...facts } = event;
  const level = levels[kind];
  switch (event.kind) {
    case 'committed':
      log[level]({ part: event.commit.part, ...event.commit.counts }, 'part committed');
      return;
    case 'opened': {
      const { answers, isResumed, inputs, inputBytes, parts, fetched, limit, counts } = event;
      const before = isResumed === true ? { parts, fetched, ...counts } : {};
      const start = { inputs: inputs?.length, inputBytes, limit, ...before };
      log[level](start, isResumed === true ? 'export resumed' : 'export started');
      if (answers > 0) log[level]({ answers }, replayText(answers));
      return;
    }
    case 'paused':
    case 'waiting': {
      const { untilMs, kind: message, ...others } = event;
      log[level]({ until: new Date(untilMs).toISOString(), ...others }, message);
      return;
    }
    case 'shrunk':
      log[level](facts, `at most ${event.cap} ids per call from now on`);
      return;
    case 'service': {
      const { state, message, untilMs } = event;
      const until = untilMs === undefined ? {} : { until: new Date(untilMs).toISOString() };
      if (state === 'working') log.info({ service: state }, 'the service takes all calls again');
      else log[level]({ service: state, ...until }, message);
      return;
    }
    case 'retry':
      log[level](facts, 'retrying a call');
      return;
    case 'failed':
      log[level](facts, 'a call failed');
      return;
    case 'unrecorded':
      log[level](facts, 'cannot write runs.jsonl: the run continues without it');
      return;
    case 'pruned':
      log[level]({ names: event.names, from: event.from }, 'output.keep removed exports');
      return;
    case 'warning':
      log[level](safeText(event.message));
      return;
    default:
      log[level](facts, kind);
  }
}
