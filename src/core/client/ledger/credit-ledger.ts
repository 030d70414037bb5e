import { randomBytes } from 'node:crypto';
import type { CounterFile } from '../../../lib/disk/counter-file.ts';
import { type LockOwner, thisProcess } from '../../../lib/process/lock-owner.ts';
import {
  type LedgerDay,
  ledgerFile,
  ledgerFiles,
  type LedgerState,
  makeLedgerFolders,
  type LedgerOf,
  ledgerName,
  takenOver,
} from './ledger-file.ts';
import { type Correction, OpenDay, stateIn } from './open-day.ts';

/** What was booked against a key or an account, by UTC day (`YYYY-MM-DD`), in credits. */
export interface CreditLedger {
  /**
   * Books credits unless the day's total would pass `limit`; resolves to whether they are booked, and then they
   * survive the end of this process and of the machine. They are in flight until they are settled or refunded.
   * @throws {ExportError} `cannotWrite`; `damaged`, until `set` repairs the day
   */
  reserve(booking: Booking & { readonly limit?: number | undefined }): Promise<boolean>;
  /** Gives credits back that were surely not charged. */
  refund(booking: Booking): Promise<void>;
  /** Says that a booked call is over: it is no longer in flight, and what is booked stays. */
  settle(booking: Booking): Promise<void>;
  /** What is booked on a day, by all who share the ledger. */
  booked(day: string): Promise<number>;
  close(): Promise<void>;
}

export interface DiskLedger extends CreditLedger {
  /**
   * Sets a day to what the provider says, and repairs a damaged one. Credits in flight of living programs are added, because
   * the provider may still charge them: so whatever happens to those calls, the day is never below what was charged.
   */
  set(booking: Booking): Promise<Correction>;
}

interface Booking {
  readonly day: string;
  readonly credits: number;
}

export interface DiskLedgerOptions extends LedgerOf {
  readonly stateDir: string;
  /** Aborted: a process that keeps the ledger from this one is not waited for. */
  readonly abort?: AbortSignal | undefined;
}

/**
 * The ledger that all processes of a user share: one file for each key or account, and day. The first change of an account's day
 * with a key takes over what the key's own ledger has booked: one write holds both the credits and whose they are.
 */
export async function openDiskLedger({ stateDir, abort, ...whose }: DiskLedgerOptions): Promise<DiskLedger> {
  const ledger = ledgerName(whose);
  const key = takenOver(whose);
  const self = newOwner();
  const days = new Map<string, OpenDay>();
  await makeLedgerFolders(stateDir);
  const fileOf = (name: LedgerDay): CounterFile<LedgerState> => ledgerFile(stateDir, name, { self, abort });

  function on(day: string): OpenDay {
    const known = days.get(day);
    if (known !== undefined) return known;
    const opened = new OpenDay({ ledger, day }, key, fileOf, self);
    days.set(day, opened);
    return opened;
  }

  return {
    reserve: ({ day, credits, limit }) => on(day).reserve(credits, limit),
    refund: ({ day, credits }) => on(day).refund(credits),
    settle: async ({ day, credits }) => days.get(day)?.settle(credits),
    booked: (day) => on(day).booked(),
    set: ({ day, credits }) => on(day).set(credits),
    close: async () => {
      const open = [...days.values()];
      days.clear();
      await Promise.all(open.map((each) => each.close()));
    },
  };
}

function newOwner(): LockOwner {
  return thisProcess(randomBytes(8).toString('hex'));
}

export interface BookedDay extends LedgerDay {
  readonly credits: number;
}

/** What is booked in a state folder, by ledger and day; of one ledger when a key or an account is given. @throws {ExportError} */
export async function readLedgers({
  stateDir,
  ...whose
}: LedgerOf & { readonly stateDir: string }): Promise<BookedDay[]> {
  const { apiKey, account } = whose;
  const only = apiKey === undefined && account === undefined ? undefined : ledgerName(whose);
  const booked: BookedDay[] = [];
  const self = newOwner();
  for (const each of await ledgerFiles(stateDir)) {
    if (only !== undefined && each.ledger !== only) continue;
    if (booked.length === 0) await makeLedgerFolders(stateDir);
    const file = ledgerFile(stateDir, each, { self });
    const credits = await file.change((found, path) => ({ result: stateIn(found, path, each).credits }));
    booked.push({ ...each, credits });
    await file.close();
  }
  return booked;
}

/** A ledger that ends with the process: for runs against a service inside the same process, where credits cost nothing. */
export function createMemoryLedger(): CreditLedger {
  const days = new Map<string, number>();
  const bookedOn = (day: string): number => days.get(day) ?? 0;
  return {
    reserve: ({ day, credits, limit }) => {
      const total = bookedOn(day) + credits;
      const fits = limit === undefined || total <= limit;
      if (fits) days.set(day, total);
      return Promise.resolve(fits);
    },
    refund: ({ day, credits }) => {
      days.set(day, Math.max(0, bookedOn(day) - credits));
      return Promise.resolve();
    },
    settle: () => Promise.resolve(),
    booked: (day) => Promise.resolve(bookedOn(day)),
    close: () => Promise.resolve(),
  };
}
