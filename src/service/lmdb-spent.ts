import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { open, type RootDatabase } from 'lmdb';
import type { SpentCredits } from './credit-balance.ts';
import { storeError } from './store-error.ts';

/**
 * Balances that outlive the service: a booking is committed before its call is answered, so that a killed service has
 * forgotten none, and services that share the folder share the balances.
 */
export class LmdbSpent implements SpentCredits {
  readonly #database: RootDatabase<number, string>;

  /** @throws {ExportError} `cannotWrite` */
  constructor(storeDir: string) {
    const path = join(storeDir, 'balances');
    try {
      mkdirSync(path, { recursive: true });
      this.#database = open<number, string>({ path });
    } catch (cause) {
      throw storeError(`keep balances in ${path}`, cause);
    }
  }

  book(account: string, credits: number, limit: number): boolean {
    return this.#database.transactionSync(() => {
      const sum = (this.#database.get(account) ?? 0) + credits;
      if (sum > limit) return false;
      this.#database.putSync(account, sum);
      return true;
    });
  }

  spent(account: string): number {
    // In a transaction: lmdb tells those who look without one apart by their pids, which are the same in containers.
    return this.#database.transactionSync(() => this.#database.get(account) ?? 0);
  }

  async close(): Promise<void> {
    await this.#database.close();
  }
}
