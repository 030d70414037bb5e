import type { ExportStatus } from '../../wings/status/index.ts';
import type { ProgressFacts } from './progress-text.ts';

/** Before this the time left would be a guess. */
const leastMs = 5000;

/** What the block shows of a run of another process. */
export function watchedProgress(status: ExportStatus, nowMs: number): ProgressFacts {
  const { counts, fetched, total, totalExact, parts, partsTotal, rate, etaMs } = status;
  const { exported, carried, missing, invalid, duplicate, failed } = counts;
  const elapsedMs = status.elapsedMs ?? 0;
  const { calls, callsInFlight, callsAtOnce, retries, bytes, credits, creditsLeft } = status;
  const isShown = etaMs !== null && (elapsedMs >= leastMs || status.state === 'waiting');
  return {
    nowMs,
    elapsedMs,
    done: counts.read + fetched,
    total: total ?? undefined,
    totalExact,
    fates: { exported, carried, missing, invalid, duplicate, failed, fetched },
    parts,
    partsTotal: partsTotal ?? undefined,
    idsPerSecond: rate ?? 0,
    ...(isShown ? { left: { ends: 'ids', ms: etaMs, moreDays: 0 } } : {}),
    calls,
    callsInFlight,
    callsAtOnce: callsAtOnce ?? undefined,
    retries,
    bytes,
    credits,
    creditsLeft: creditsLeft ?? undefined,
    hold: holdOf(status),
    service: status.serviceMessage ?? undefined,
  };
}

function holdOf({ waitingUntil, pausedUntil, lastError }: ExportStatus): ProgressFacts['hold'] {
  const until = waitingUntil ?? pausedUntil;
  if (until === null) return undefined;
  const kind = waitingUntil === null ? 'paused' : 'waiting';
  return { kind, reason: lastError ?? '', untilMs: Date.parse(until), moreDays: 0 };
}
