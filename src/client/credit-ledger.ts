import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { open, type RootDatabase } from 'lmdb';
import { codeOf, ExportError, messageOf } from '../lib/export-error.ts';

/** What was booked against a key, by UTC day (`YYYY-MM-DD`), in credits. */
export interface CreditLedger {
  /**
   * Books credits unless the day's total would pass `limit`; resolves to whether they are booked, and then they
   * survive the end of this process and of the machine.
   * @throws {ExportError} `cannotWrite`
   */
  reserve(booking: Booking & { readonly limit?: number | undefined }): Promise<boolean>;
  /** Gives credits back that were surely not charged. */
  refund(booking: Booking): Promise<void>;
  /** What is booked on a day, by all who share the ledger. */
  booked(day: string): Promise<number>;
  close(): Promise<void>;
}

export interface Booking {
  readonly day: string;
  readonly credits: number;
}

export interface DiskLedgerOptions {
  readonly stateDir: string;
  /** Only its hash is kept. */
  readonly apiKey: string;
}

const bookedKey = 'credits';

/**
 * The ledger that all processes of a user share: one small lmdb file a key and day. A booking is a transaction that is
 * flushed before it resolves; lmdb's lock is given up by a process that dies, and a cut transaction never happened.
 */
export async function openDiskLedger(options: DiskLedgerOptions): Promise<CreditLedger> {
  const folder = join(options.stateDir, 'ledger');
  const prefix = keyPrefix(options.apiKey);
  const days = new Map<string, RootDatabase<number, string>>();
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw cannotWrite(error);
  }

  function dayFile(day: string): RootDatabase<number, string> {
    const known = days.get(day);
    if (known !== undefined) return known;
    requireWhole(join(folder, `${prefix}-${day}`));
    // overlappingSync would resolve before the bytes are on the disk.
    const file = open<number, string>(join(folder, `${prefix}-${day}`), { noSubdir: true, overlappingSync: false });
    days.set(day, file);
    return file;
  }

  async function change(day: string, next: (booked: number) => number | undefined): Promise<boolean> {
    try {
      const file = dayFile(day);
      return await file.transaction(() => {
        const value = next(file.get(bookedKey) ?? 0);
        if (value === undefined) return false;
        void file.put(bookedKey, value);
        return true;
      });
    } catch (error) {
      throw cannotWrite(error);
    }
  }

  return {
    reserve: ({ day, credits, limit }) =>
      change(day, (booked) => (limit !== undefined && booked + credits > limit ? undefined : booked + credits)),
    refund: async ({ day, credits }) => {
      await change(day, (booked) => Math.max(0, booked - credits));
    },
    booked: async (day) => {
      try {
        return (await readdir(folder)).includes(`${prefix}-${day}`) ? (dayFile(day).get(bookedKey) ?? 0) : 0;
      } catch (error) {
        throw cannotWrite(error);
      }
    },
    close: async () => {
      const files = [...days.values()];
      days.clear();
      await Promise.all(files.map((file) => file.close()));
    },
  };
}

/** The days on which a key has bookings, oldest first. */
export async function ledgerDays({ stateDir, apiKey }: DiskLedgerOptions): Promise<string[]> {
  const pattern = new RegExp(`^${keyPrefix(apiKey)}-(\\d{4}-\\d\\d-\\d\\d)$`);
  const names = await readdir(join(stateDir, 'ledger')).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return [];
    throw cannotWrite(error);
  });
  return names.flatMap((name) => pattern.exec(name)?.[1] ?? []).sort();
}

/** Where lmdb's mark stands in a file's first page, and the two pages that every file has, in bytes. */
const mark = { at: 24, bytes: Buffer.from('dec0efbe', 'hex') };
const leastBytes = 8192;

/** lmdb ends the whole process when it opens a file that is not its own. @throws {ExportError} `damaged` */
function requireWhole(path: string): void {
  // Another process may be making the file right now: it has its mark a moment later.
  for (let turn = 0; turn < 20; turn += 1) {
    if (isWhole(path)) return;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
  }
  throw new ExportError('damaged', `the credit ledger ${path} is damaged`, {
    todo: 'What was booked on that day is lost with it. Remove the file once you know from the provider’s page what the day still leaves.',
  });
}

function isWhole(path: string): boolean {
  try {
    const bytes = readFileSync(path);
    const isMarked = bytes.subarray(mark.at, mark.at + mark.bytes.length).equals(mark.bytes);
    return bytes.length === 0 || (bytes.length >= leastBytes && isMarked);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return true;
    throw error;
  }
}

/** Names a key without giving it away: 64 bits of its SHA-256. */
function keyPrefix(apiKey: string): string {
  return createHash('sha256').update(apiKey.trim()).digest('hex').slice(0, 16);
}

function cannotWrite(error: unknown): ExportError {
  if (error instanceof ExportError) return error;
  return new ExportError('cannotWrite', `The credit ledger cannot be read or written: ${messageOf(error)}.`, {
    todo: 'Make room, or name a folder you may write to with --state-dir or ASSET_EXPORT_STATE.',
    cause: error,
  });
}
