import { scaleUtc } from 'd3-scale';
import type { RunFacts } from '../runs.ts';
import { clockText, dayText } from './text.ts';

/** A time between two runs. */
export interface Gap {
  readonly fromMs: number;
  readonly toMs: number;
}

export interface Tick {
  /** Percent of the width. */
  readonly x: number;
  readonly label: string;
}

/** Where the moments of an export lie, in percent of the width. Long gaps between runs are drawn short. */
export interface TimeAxis {
  readonly x: (ms: number) => number;
  readonly gaps: readonly Gap[];
  readonly ticks: readonly Tick[];
}

/** Most of the width that gaps between runs take, all together and each. */
const gapShare = 0.3;
const oneGapShare = 0.12;
const ticksInAll = 8;
/** Ticks that are nearer to each other, or to a gap, collide. Percent of the width. */
const leastBetween = 8;

export function timeAxis(runs: readonly Pick<RunFacts, 'beganMs' | 'endedMs'>[]): TimeAxis {
  const worked = runs.map(({ beganMs, endedMs }) => ({ fromMs: beganMs, toMs: Math.max(endedMs, beganMs + 1) }));
  const gaps = worked
    .slice(1)
    .map(({ fromMs }, index) => ({ fromMs: worked[index]?.toMs ?? fromMs, toMs: fromMs }))
    .filter((gap) => gap.toMs > gap.fromMs);
  const workMs = worked.reduce((total, { fromMs, toMs }) => total + toMs - fromMs, 0);
  const largest = Math.min(oneGapShare, gapShare / Math.max(1, gaps.length)) * workMs;
  const domain: number[] = [];
  const range: number[] = [];
  let at = 0;
  for (const { fromMs, toMs } of worked) {
    const before = domain.at(-1);
    if (before !== undefined) at += Math.min(Math.max(0, fromMs - before), largest);
    domain.push(Math.max(fromMs, before ?? fromMs));
    range.push(at);
    at += toMs - fromMs;
    domain.push(toMs);
    range.push(at);
  }
  const scale = scaleUtc()
    .domain(domain)
    .range(range.map((each) => (each / at) * 100))
    .clamp(true);
  return { x: scale, gaps, ticks: ticksOf(worked, scale) };
}

function ticksOf(worked: readonly Gap[], x: (ms: number) => number): Tick[] {
  const ticks: Tick[] = [];
  for (const { fromMs, toMs } of worked) {
    const width = x(toMs) - x(fromMs);
    const wanted = Math.round((width / 100) * ticksInAll);
    if (wanted < 1) continue;
    const times = scaleUtc()
      .domain([fromMs, toMs])
      .ticks(wanted)
      .map(Number)
      .filter((ms) => ms % 1000 === 0);
    const stepMs = (times[1] ?? toMs) - (times[0] ?? fromMs);
    for (const ms of times) {
      const at = x(ms);
      if (at - (ticks.at(-1)?.x ?? -leastBetween) >= leastBetween) ticks.push({ x: at, label: labelOf(ms, stepMs) });
    }
  }
  return ticks;
}

function labelOf(ms: number, stepMs: number): string {
  if (stepMs >= 86_400_000) return dayText(ms).slice(5);
  return stepMs < 60_000 ? clockText(ms) : clockText(ms).slice(0, 5);
}
