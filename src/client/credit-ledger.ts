import { randomUUID } from 'node:crypto';
import { mayBeAlive, ownerIn, ownerText, thisProcess } from '../store/lock-owner.ts';
import {
  cannotWrite,
  inTransaction,
  keyHash,
  type LedgerDay,
  type LedgerFile,
  ledgerFiles,
  makeLedgerFolder,
  openLedgerFile,
} from './ledger-file.ts';

/** What was booked against a key, by UTC day (`YYYY-MM-DD`), in credits. */
export interface CreditLedger {
  /**
   * Books credits unless the day's total would pass `limit`; resolves to whether they are booked, and then they
   * survive the end of this process and of the machine. They are in flight until they are settled or refunded.
   * @throws {ExportError} `cannotWrite`
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
   * Corrects a day to what the provider says. What programs that live have in flight comes on top, because the provider
   * may charge it yet: so whatever becomes of those calls, the day is never below what was charged.
   */
  set(booking: Booking): Promise<Correction>;
}

export interface Booking {
  readonly day: string;
  readonly credits: number;
}

/** What a correction did, in credits. */
export interface Correction {
  readonly before: number;
  readonly after: number;
  /** The part of `after` that is in flight. */
  readonly inFlight: number;
}

export interface DiskLedgerOptions {
  readonly stateDir: string;
  /** Only its hash is kept. */
  readonly apiKey: string;
}

/** What stands in a day's file: the sum that is booked, and what each process has of it in flight. */
const bookedKey = 'credits';
const inFlightKey = 'in flight: ';

/** A day as this process sees it. */
interface OpenDay {
  readonly file: LedgerFile;
  /** Credits that are booked and neither settled nor refunded. */
  inFlight: number;
}

/**
 * The ledger that all processes of a user share: one small lmdb file a key and day. A booking is a transaction that is
 * flushed before it resolves; lmdb's lock is given up by a process that dies, and a cut transaction never happened.
 */
export async function openDiskLedger({ stateDir, apiKey }: DiskLedgerOptions): Promise<DiskLedger> {
  const hash = keyHash(apiKey);
  const ownKey = `${inFlightKey}${ownerText(thisProcess(randomUUID())).trim()}`;
  const days = new Map<string, OpenDay>();
  await makeLedgerFolder(stateDir);

  function openDay(day: string): OpenDay {
    const known = days.get(day);
    if (known !== undefined) return known;
    const opened = { file: openLedgerFile(stateDir, { keyHash: hash, day }), inFlight: 0 };
    days.set(day, opened);
    return opened;
  }

  /** One transaction. */
  async function change<T>(day: string, work: (open: OpenDay) => T): Promise<T> {
    try {
      const open = openDay(day);
      return await inTransaction(open.file, () => work(open));
    } catch (error) {
      throw cannotWrite(error);
    }
  }

  function changeInFlight(open: OpenDay, credits: number): void {
    open.inFlight = Math.max(0, open.inFlight + credits);
    void (open.inFlight > 0 ? open.file.put(ownKey, open.inFlight) : open.file.remove(ownKey));
  }

  return {
    reserve: ({ day, credits, limit }) =>
      change(day, (open) => {
        const total = bookedIn(open.file) + credits;
        if (limit !== undefined && total > limit) return false;
        void open.file.put(bookedKey, total);
        changeInFlight(open, credits);
        return true;
      }),
    refund: ({ day, credits }) =>
      change(day, (open) => {
        void open.file.put(bookedKey, Math.max(0, bookedIn(open.file) - credits));
        changeInFlight(open, -credits);
      }),
    settle: async ({ day, credits }) => {
      const open = days.get(day);
      if (open === undefined) return;
      // The next booking tells the others; only when none may follow is it worth a transaction of its own.
      open.inFlight = Math.max(0, open.inFlight - credits);
      if (open.inFlight === 0)
        await change(day, (same) => {
          changeInFlight(same, 0);
        });
    },
    booked: async (day) => {
      const isThere = (await ledgerFiles(stateDir)).some((each) => each.keyHash === hash && each.day === day);
      return isThere ? change(day, ({ file }) => bookedIn(file)) : 0;
    },
    set: ({ day, credits }) =>
      change(day, ({ file }) => {
        const before = bookedIn(file);
        const inFlight = inFlightIn(file);
        void file.put(bookedKey, credits + inFlight);
        return { before, after: credits + inFlight, inFlight };
      }),
    close: async () => {
      const open = [...days.values()];
      days.clear();
      await Promise.all(open.map(({ file }) => file.close()));
    },
  };
}

/** Within a transaction: lmdb tells those who look without one apart by their pids, which are the same in containers. */
function bookedIn(file: LedgerFile): number {
  return file.get(bookedKey) ?? 0;
}

/** What living processes have in flight, within a transaction. What the dead had is settled: they send nothing more. */
function inFlightIn(file: LedgerFile): number {
  let sum = 0;
  for (const { key, value } of [...file.getRange({ start: inFlightKey, end: `${inFlightKey}~` })]) {
    const owner = ownerIn(key.slice(inFlightKey.length));
    if (owner === undefined || mayBeAlive(owner)) sum += value;
    else void file.remove(key);
  }
  return sum;
}

export interface BookedDay extends LedgerDay {
  readonly credits: number;
}

/** What is booked in a state folder, by key and day; of one key when it is given. @throws {ExportError} */
export async function readLedgers({ stateDir, apiKey }: { stateDir: string; apiKey?: string }): Promise<BookedDay[]> {
  const files = await ledgerFiles(stateDir);
  const booked: BookedDay[] = [];
  for (const each of files.filter((one) => apiKey === undefined || one.keyHash === keyHash(apiKey))) {
    try {
      const file = openLedgerFile(stateDir, each);
      booked.push({ ...each, credits: await inTransaction(file, () => bookedIn(file)) });
      await file.close();
    } catch (error) {
      throw cannotWrite(error);
    }
  }
  return booked;
}
