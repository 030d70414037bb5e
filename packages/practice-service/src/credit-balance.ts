import { type Clock, utcDay } from '../../../src/lib/clock.ts';
import { sha256 } from '../../../src/lib/hash/sha256.ts';

/** Credits that were spent, by key and UTC day. */
export interface SpentCredits {
  /** Books credits if the sum stays within the limit; otherwise changes nothing and returns false. */
  book(account: string, credits: number, limit: number): Promise<boolean>;
  spent(account: string): number;
}

export interface ServiceLimits {
  /** For a key and UTC day; absent: no limit. */
  readonly creditsPerDay?: number;
  /** For a key, as a bucket that holds one second's credits; absent: no limit. */
  readonly creditsPerSecond?: number;
}

/** Why a call is not served: the day's credits, or the second's, are gone. */
export type CreditRefusal = 'day' | 'second';

/** The balances of all keys. Refused calls cost nothing. */
export class CreditBalance {
  readonly #limits: ServiceLimits;
  readonly #spent: SpentCredits;
  readonly #clock: Clock;
  readonly #buckets = new Map<string, { credits: number; atMs: number }>();

  constructor(limits: ServiceLimits, spent: SpentCredits, clock: Clock) {
    this.#limits = limits;
    this.#spent = spent;
    this.#clock = clock;
  }

  /** Takes credits from a key's balance, or says why not. */
  async charge(key: string, credits: number): Promise<CreditRefusal | undefined> {
    const bucket = this.#bucket(key, credits);
    if (bucket !== undefined && bucket.credits < credits) return 'second';
    const { creditsPerDay } = this.#limits;
    // Before the booking, during which other calls look at the bucket.
    if (bucket !== undefined) bucket.credits -= credits;
    if (creditsPerDay === undefined) return undefined;
    if (await this.#spent.book(this.#account(key), credits, creditsPerDay)) return undefined;
    if (bucket !== undefined) bucket.credits += credits;
    return 'day';
  }

  /** What the key has left for today; undefined without a limit. */
  remaining(key: string): number | undefined {
    const { creditsPerDay } = this.#limits;
    return creditsPerDay === undefined ? undefined : Math.max(0, creditsPerDay - this.#spent.spent(this.#account(key)));
  }

  /** The key's bucket, filled up to now. It holds at least one request, or a small limit would refuse for ever. */
  #bucket(key: string, credits: number): { credits: number; atMs: number } | undefined {
    const { creditsPerSecond } = this.#limits;
    if (creditsPerSecond === undefined) return undefined;
    const nowMs = this.#clock.monotonic();
    const bucket = this.#buckets.get(key) ?? { credits: Number.POSITIVE_INFINITY, atMs: nowMs };
    const gained = (Math.max(0, nowMs - bucket.atMs) / 1000) * creditsPerSecond;
    bucket.credits = Math.min(Math.max(creditsPerSecond, credits), bucket.credits + gained);
    bucket.atMs = nowMs;
    this.#buckets.set(key, bucket);
    return bucket;
  }

  /** Keys are kept as hashes only. */
  #account(key: string): string {
    return `${sha256(key).slice(0, 32)}-${utcDay(this.#clock.now())}`;
  }
}

/** Balances that end with the service. */
export class MemorySpent implements SpentCredits {
  readonly #spent = new Map<string, number>();

  async book(account: string, credits: number, limit: number): Promise<boolean> {
    const sum = this.spent(account) + credits;
    if (sum > limit) return false;
    this.#spent.set(account, sum);
    return true;
  }

  spent(account: string): number {
    return this.#spent.get(account) ?? 0;
  }
}
