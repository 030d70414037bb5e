import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { z } from 'zod';
import { CounterFile, type CounterLayout, type CounterState } from '../../../../src/lib/disk/counter-file.ts';
import { makeFolder } from '../../../../src/lib/disk/on-disk.ts';
import { thisProcess } from '../../../../src/lib/process/lock-owner.ts';
import type { SpentCredits } from '../credit-balance.ts';
import { storeError } from './store-error.ts';

interface SpentState extends CounterState {
  readonly credits: number;
}

/** A copy is a page of memory, which is written whole: after a failed sync the next booking writes all of it again. */
const layout: CounterLayout<SpentState> = {
  schema: z.object({ version: z.literal(1), sequence: z.int(), credits: z.int().nonnegative() }),
  copyBytes: 4096,
};

/** A file while something is booked in it. */
interface OpenAccount {
  readonly file: CounterFile<SpentState>;
  bookings: number;
}

/**
 * Balances that outlive the service: a booking is on the disk before its call is answered, so that a killed service has
 * forgotten none, and services that share the folder share the balances. A file for each key and day.
 */
export class SharedSpent implements SpentCredits {
  readonly #folder: string;
  readonly #self = thisProcess(randomUUID());
  readonly #open = new Map<string, OpenAccount>();

  private constructor(folder: string) {
    this.#folder = folder;
  }

  /** @throws {ExportError} `cannotWrite` */
  static async open(storeDir: string): Promise<SharedSpent> {
    const folder = join(storeDir, 'balances');
    try {
      // Apart from the balances, whose folder is synced.
      await makeFolder(locksIn(folder));
    } catch (cause) {
      throw balanceError(folder, cause);
    }
    return new SharedSpent(folder);
  }

  async book(account: string, credits: number, limit: number): Promise<boolean> {
    const open = this.#open.get(account) ?? { file: this.#file(account), bookings: 0 };
    this.#open.set(account, open);
    open.bookings += 1;
    try {
      return await open.file.change((found) => {
        const sum = creditsIn(found) + credits;
        return sum > limit ? { result: false } : { result: true, next: { credits: sum } };
      });
    } finally {
      open.bookings -= 1;
      // Any number of keys may come. And what the disk refused now it may take later, from a file that is opened anew.
      if (open.bookings === 0) {
        this.#open.delete(account);
        await open.file.close();
      }
    }
  }

  spent(account: string): number {
    return creditsIn(this.#file(account).look());
  }

  #file(account: string): CounterFile<SpentState> {
    return new CounterFile({
      ...layout,
      path: join(this.#folder, account),
      exclusion: { path: join(locksIn(this.#folder), account), self: this.#self },
      onFailure: (cause) => balanceError(this.#folder, cause),
    });
  }
}

function locksIn(folder: string): string {
  return join(folder, 'locks');
}

function balanceError(folder: string, cause: unknown): Error {
  return storeError(`keep balances in ${folder}`, cause);
}

/** What was in a damaged file is lost: the day begins anew. */
function creditsIn(found: SpentState | string): number {
  return typeof found === 'string' ? 0 : found.credits;
}
