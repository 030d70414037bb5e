import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { open, type RootDatabase } from 'lmdb';
import { isCut, makeLmdbFiles } from './lmdb-files.ts';
import type { SpentCredits } from '../credit-balance.ts';
import { storeError } from './store-error.ts';

/**
 * Balances that outlive the service: a booking is committed before its call is answered, so that a killed service has
 * forgotten none, and services that share the folder share the balances.
 */
export class LmdbSpent implements SpentCredits {
  readonly #database: RootDatabase<number, string>;
  readonly #path: string;

  /** @throws {ExportError} `cannotWrite` */
  constructor(storeDir: string) {
    const path = join(storeDir, 'balances');
    this.#path = path;
    try {
      mkdirSync(path, { recursive: true });
      // A file that was cut would end the program at each start. What it held is lost either way.
      if (isCut(join(path, 'data.mdb'))) rmSync(join(path, 'data.mdb'));
      makeLmdbFiles({ path });
      this.#database = open<number, string>({ path });
    } catch (cause) {
      throw this.#error(cause);
    }
  }

  book(account: string, credits: number, limit: number): boolean {
    return this.#transaction(() => {
      const sum = (this.#database.get(account) ?? 0) + credits;
      if (sum > limit) return false;
      this.#database.putSync(account, sum);
      return true;
    });
  }

  spent(account: string): number {
    // In a transaction, because without one lmdb identifies readers by pid, and containers can have equal pids.
    return this.#transaction(() => this.#database.get(account) ?? 0);
  }

  async close(): Promise<void> {
    await this.#database.close();
  }

  /** @throws {ExportError} `cannotWrite` */
  #transaction<T>(work: () => T): T {
    try {
      return this.#database.transactionSync(work);
    } catch (cause) {
      throw this.#error(cause);
    }
  }

  #error(cause: unknown): Error {
    return storeError(`keep balances in ${this.#path}`, cause);
  }
}
