import { type AssetAnswer, type AssetCall, AttemptError } from '../../../src/core/client/asset-client.ts';
import type { HttpClient, HttpClientOptions } from '../../../src/core/client/wire/http-client.ts';
import { utcDay } from '../../../src/lib/clock.ts';
import type { SeededRandom } from '../../../packages/practice-service/src/generated/seeded-random.ts';
import type { FakeClock } from '../../support/fake-clock.ts';
import { goodAnswer } from './small-export.ts';

export const creditsPerCall = 160;

/** A service that keeps its own account, answers late, and fails as the seed says. */
export class PaidService {
  /** Credits charged by UTC day. */
  readonly charged = new Map<string, number>();
  /** Calls that reached it. */
  calls = 0;
  /** Whether anything goes wrong. */
  calm = false;
  readonly #clock: FakeClock;
  readonly #random: SeededRandom;
  readonly #creditsPerDay: number;
  readonly #open = new Set<Promise<unknown>>();

  constructor(clock: FakeClock, random: SeededRandom, creditsPerDay: number) {
    this.#clock = clock;
    this.#random = random;
    this.#creditsPerDay = creditsPerDay;
  }

  wire(isDead: () => boolean, { timeoutMs }: HttpClientOptions): HttpClient {
    return {
      ask: async (call) => {
        if (isDead()) throw new Error('a dead program sends nothing');
        this.calls += 1;
        const exchange = this.#exchange(call, timeoutMs);
        this.#open.add(exchange);
        return exchange.finally(() => this.#open.delete(exchange));
      },
      close: () => Promise.resolve(),
    };
  }

  /** Credits charged in all. */
  sum(): number {
    return [...this.charged.values()].reduce((sum, credits) => sum + credits, 0);
  }

  /** Resolves when nothing is in flight, also of a program that was killed meanwhile. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#open);
  }

  /** The service counts a call at any moment of the exchange. */
  async #exchange(call: AssetCall, timeoutMs: number): Promise<AssetAnswer> {
    const random = this.#random;
    await this.#clock.sleep(this.calm ? 5 : random.below(timeoutMs / 2));
    const failure = this.calm ? 'none' : random.pick(['none', 'none', 'none', 'lost', 'unlucky', 'fast', 'refused']);
    if (failure === 'fast') throw new AttemptError('pace', 'too fast', { status: 429 });
    if (failure === 'refused') throw new AttemptError('transport', 'HTTP 503', { status: 503 });
    const day = utcDay(this.#clock.now());
    const sum = this.charged.get(day) ?? 0;
    if (!this.calm && sum + creditsPerCall > this.#creditsPerDay)
      throw new AttemptError('spent', 'HTTP 402', { status: 402 });
    this.charged.set(day, sum + creditsPerCall);
    await this.#clock.sleep(this.calm ? 5 : random.below(timeoutMs / 2));
    // Charged, and no answer: the connection was cut, or the answer.
    if (failure === 'lost' || failure === 'unlucky') throw new AttemptError('transport', 'connection reset');
    return goodAnswer(call);
  }
}
