import type { FileStore } from './file-store.ts';

/**
 * A sum that an export keeps over all its runs: of the calls it sent, of the credits it booked for them. It is never less
 * than what was added, whatever ends the process. A loss of power may undo the last seconds; the credit ledger does not
 * forget them.
 */
export interface Tally {
  /** Resolves when the sum on disk includes the amount: awaited before a call is sent. */
  add(amount: number): Promise<void>;
  total(): number;
  close(): Promise<void>;
}

/** Decimal digits of fixed width: a small write in place, and one that is cut leaves no smaller number. */
const width = 16;

/** The sum in a tally's file; 0 when there is none. */
export async function readTally(files: FileStore, path: string): Promise<number> {
  const bytes = await files.readAll(path);
  // A loss of power can leave other bytes than digits.
  const digits = /^\d+/.exec(Buffer.from(bytes ?? []).toString('latin1'));
  return digits === null ? 0 : Number(digits[0]);
}

export async function openTally(files: FileStore, path: string): Promise<Tally> {
  let total = await readTally(files, path);
  const file = await files.open(path, 'update');
  let turn: Promise<void> = Promise.resolve();
  return {
    add: (amount) => {
      total += amount;
      const text = String(total).padStart(width, '0');
      turn = turn.then(() => file.write(Buffer.from(`${text}\n`), 0));
      return turn;
    },
    total: () => total,
    close: async () => {
      await turn.catch(() => undefined);
      await file.close();
    },
  };
}
