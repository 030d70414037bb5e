import { describe, expect, it } from 'vitest';
import { CallLimit } from '../../../../src/core/client/judgement/call-limit.ts';
import { type Asked, queued, type Service } from './services.ts';
import { seeded } from './simulate.ts';

interface World {
  readonly service: Service;
  readonly calls: number;
  /** How long this machine works on an answer. With 0, latencies are known. */
  readonly workMs?: number;
  /** Calls a second that may leave. */
  readonly aSecond?: number;
}

/** Lets calls out in virtual time, as many at once as the limit says. The means are over those that left after the first 10 s. */
function run({ service, calls, workMs = 0, aSecond = Number.POSITIVE_INFINITY }: World) {
  const limit = new CallLimit('auto');
  const random = seeded(1);
  const flying: { readonly endMs: number; readonly ms: number; readonly leftMs: number; readonly atOnce: number }[] =
    [];
  let [nowMs, turnMs, sent, late, lateMs, lateAtOnce] = [0, 0, 0, 0, 0, 0];
  let most = 1;
  for (let answers = 0; answers < calls; answers += 1) {
    for (; flying.length < limit.calls && sent < calls; sent += 1) {
      turnMs = Math.max(nowMs, turnMs + 1000 / aSecond);
      const { ms } = service({ now: turnMs / 1000, random } as Asked);
      flying.push({ endMs: turnMs + ms, ms, leftMs: turnMs, atOnce: flying.length + 1 });
    }
    flying.sort((a, b) => a.endMs - b.endMs);
    const [came] = flying.splice(0, 1);
    if (came === undefined) throw new Error('nothing flies');
    // With work of its own, this machine sees an answer when it has done what came before.
    nowMs = Math.max(nowMs, came.endMs) + workMs;
    if (answers === 0) limit.open();
    limit.answered(nowMs, false, workMs === 0 ? came.ms : undefined);
    most = Math.max(most, limit.calls);
    if (came.leftMs < 10_000) continue;
    late += 1;
    lateMs += came.ms;
    lateAtOnce += came.atOnce;
  }
  const seconds = nowMs / 1000;
  return { seconds, most, aSecond: late / (seconds - 10), latencyMs: lateMs / late, atOnce: lateAtOnce / late };
}

const steady = (ms: number): Service => queued(1000, ms);

describe('concurrency auto', () => {
  it.each([
    { ms: 100, workers: 3 },
    { ms: 200, workers: 6 },
    { ms: 500, workers: 15 },
    { ms: 1000, workers: 30 },
    { ms: 2000, workers: 60 },
  ])('fills a service of 30 calls a second and $ms ms, and hardly queues', ({ ms, workers }) => {
    const found = run({ service: queued(workers, ms), calls: 30 * 60 });
    expect(found.aSecond).toBeGreaterThanOrEqual(27);
    expect(found.latencyMs).toBeLessThanOrEqual(2 * ms);
  });

  it.each([20, 500, 1500])('takes five rounds for 120 calls of %i ms', (ms) => {
    expect(run({ service: steady(ms), calls: 120 }).seconds).toBeLessThanOrEqual((5 * ms) / 1000);
  });

  it.each([2, 10])('is not misled by latencies that differ by chance, %i times', (spread) => {
    const service: Service = ({ random }) => ({ ok: true, ms: 400 * spread ** random() });
    expect(run({ service, calls: 8000 }).atOnce).toBeGreaterThanOrEqual(64);
  });

  it('follows a service that becomes slower', () => {
    const service: Service = ({ now }) => ({ ok: true, ms: now < 12 ? 200 : 800 });
    expect(run({ service, calls: 16_000 }).atOnce).toBeGreaterThanOrEqual(64);
  });

  it('does not grow where calls wait for this machine, or for their pace', () => {
    expect(run({ service: steady(20), calls: 400, workMs: 83 }).most).toBe(8);
    // But for two more an answer of the first round, which shows it.
    expect(run({ service: steady(500), calls: 400, aSecond: 4 }).most).toBeLessThanOrEqual(8 + 2 * 16);
  });

  it('begins with the calls of an earlier run, and never has more than a fixed maximum', () => {
    for (const [concurrency, learned, calls] of [
      ['auto', undefined, 8],
      ['auto', 40, 40],
      ['auto', 4000, 128],
      [16, 40, 16],
    ] as const) {
      const limit = new CallLimit(concurrency, learned);
      limit.open();
      expect(limit.calls).toBe(calls);
      for (let n = 0; n < 2000; n += 1) limit.answered(n, false, 1);
      if (concurrency !== 'auto') expect(limit.calls).toBe(concurrency);
    }
  });
});
