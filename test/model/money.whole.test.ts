import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createMemoryLedger } from '../../src/core/client/ledger/credit-ledger.ts';
import type { ExportOutcome } from '../../src/core/run/complete-export.ts';
import { SeededRandom } from '../../packages/practice-service/src/generated/seeded-random.ts';
import { keptFolder } from '../support/temp-folder.ts';
import { createFakeClock, type FakeClock } from '../support/fake-clock.ts';
import { failingAt } from './support/failing-weather.ts';
import { creditsPerCall, PaidService } from './support/paid-service.ts';
import { sampledOperations } from './support/sample.ts';
import { SmallExport, writeSmallIds } from './support/small-export.ts';
import { type Undisturbed, undisturbedRun, wrongFiles } from './support/undisturbed.ts';

let folder: Awaited<ReturnType<typeof keptFolder>>;
let idsPath: string;
let calm: Undisturbed;

beforeAll(async () => {
  folder = await keptFolder();
  idsPath = writeSmallIds(folder.path);
  calm = await undisturbedRun(new SmallExport(idsPath));
});

afterAll(() => folder.remove());

const histories = sampledOperations(Array.from({ length: 120 }, (_, seed) => seed));
const hourMs = 3_600_000;

/** One export over several runs, with failures, kills, limits and days as the seed says. */
class History {
  readonly random: SeededRandom;
  readonly clock: FakeClock;
  readonly service: PaidService;
  readonly ledger = createMemoryLedger();
  readonly small = new SmallExport(idsPath);
  readonly creditsPerDay: number;
  readonly days = new Set<string>();

  constructor(seed: number) {
    this.random = new SeededRandom([seed, 3, 3, 3]);
    // Near midnight more often than not, so that calls last over it.
    const startMs = Date.UTC(2026, 2, 14, 23, 58, 0) - (this.random.chance(30) ? this.random.below(20) * hourMs : 0);
    this.clock = createFakeClock(startMs);
    this.creditsPerDay = creditsPerCall * (1 + this.random.below(12));
    this.service = new PaidService(this.clock, this.random, creditsPerCall * (2 + this.random.below(15)));
  }

  async run(): Promise<ExportOutcome | undefined> {
    const { random, small, service } = this;
    const creditsPerRun = creditsPerCall * (1 + random.below(9));
    if (random.chance(40))
      small.disk.weather = failingAt(random.below(calm.operations.length), () => ({ kind: 'dies' }));
    const before = service.sum();
    const flags = {
      'credits-per-day': String(this.creditsPerDay),
      'credits-per-run': String(creditsPerRun),
      retries: '2',
      'when-spent': random.chance(30) ? 'wait' : 'stop',
      'free-statuses': '429,503,402',
    };
    const outcome = await this.#go(flags);
    expect(service.sum() - before, 'the budget of a run').toBeLessThanOrEqual(creditsPerRun);
    await this.expectAccount(this.creditsPerDay);
    await this.clock.advance(random.below(3) * random.below(24) * hourMs);
    return outcome;
  }

  /** Everything goes well now, and nothing limits. */
  async finish(): Promise<ExportOutcome | undefined> {
    this.service.calm = true;
    await this.clock.advance(48 * hourMs);
    const outcome = await this.#go({ 'credits-per-day': '1000000' });
    await this.expectAccount(1_000_000);
    return outcome;
  }

  async #go(flags: Readonly<Record<string, string>>): Promise<ExportOutcome | undefined> {
    const { clock, ledger, random, service, small } = this;
    const context = {
      clock,
      ledger,
      random: () => random.below(1000) / 1000,
      openWire: (options: Parameters<PaidService['wire']>[1]) => service.wire(() => small.disk.dead, options),
    };
    const outcome = await clock.runUntil(small.run({ flags, context }), 'wait');
    await clock.runUntil(service.settled(), 'wait');
    small.disk.restart();
    return outcome;
  }

  async expectAccount(limit: number): Promise<void> {
    for (const [day, charged] of this.service.charged) {
      const booked = await this.ledger.booked(day);
      expect(booked, `${day}: the ledger is never below what was charged`).toBeGreaterThanOrEqual(charged);
      expect(booked, `${day}: nor above the budget`).toBeLessThanOrEqual(limit);
    }
  }
}

describe('over failures, kills, limits and midnights', () => {
  // Promise, Nothing overspent: Over failures, kills and midnights no run overspends, and no ledger is short (sampled)
  it(`no run passes a budget, and the ledger is never below what was charged (${histories.length} histories)`, async () => {
    let overMidnight = 0;
    let stopped = 0;
    for (const seed of histories) {
      const history = new History(seed);
      for (let run = 1 + history.random.below(4); run > 0; run -= 1) {
        const outcome = await history.run();
        if (outcome?.error?.exit === 'spent') stopped += 1;
      }
      if (history.service.charged.size > 1) overMidnight += 1;
      const last = await history.finish();
      expect(last?.state, `seed ${seed}`).not.toBe('unfinished');
      expect(wrongFiles(history.small, calm), `seed ${seed}`).toEqual([]);
      expect(last?.account.calls, `seed ${seed}: no call is forgotten`).toBeGreaterThanOrEqual(history.service.calls);
    }
    // The histories show what they are for.
    expect(overMidnight).toBeGreaterThan(histories.length / 6);
    expect(stopped).toBeGreaterThan(histories.length / 3);
  }, 120_000);
});
