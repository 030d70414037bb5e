import type { Disk, Reads } from '../files/disk.ts';
import type { OpenFile } from '../files/open-file.ts';

/**
 * A sum that an export keeps over all its runs: of the calls it sent, of the credits that these may have cost. It is never
 * less than that, whatever ends the process. A loss of power may undo the last seconds; the credit ledger does not
 * forget them.
 */
export interface Tally {
  /**
   * Resolves when the sum on disk includes the amount: awaited before a call is sent. A negative amount takes back what
   * proved too much: the file is corrected once as much is added again, or at the end.
   */
  add(amount: number): Promise<void>;
  total(): number;
  close(): Promise<void>;
}

/** Decimal digits of fixed width: a small write in place, and one that is cut leaves no smaller number. */
const width = 16;

/** The sum in a tally's file; 0 when there is none. */
export async function readTally(files: Reads, path: string): Promise<number> {
  const bytes = await files.readAll(path);
  // A loss of power can leave other bytes than digits.
  const digits = /^\d+/.exec(Buffer.from(bytes ?? []).toString('latin1'));
  return digits === null ? 0 : Number(digits[0]);
}

export async function openTally(files: Disk, path: string): Promise<Tally> {
  let total = await readTally(files, path);
  /** What the file holds once the writes under way are done: never less than the sum. */
  let written = total;
  const file = await files.open(path, 'update');
  let turn: Promise<void> = Promise.resolve();
  return {
    add: (amount) => {
      total += amount;
      if (total > written) {
        written = total;
        const text = textOf(total);
        turn = turn.then(() => file.write(Buffer.from(text), 0));
      }
      return turn;
    },
    total: () => total,
    close: async () => {
      // What cannot be taken back stays counted.
      await turn.then(() => lower(file, textOf(written), textOf(total))).catch(() => undefined);
      await file.close();
    },
  };
}

function textOf(sum: number): string {
  return `${String(sum).padStart(width, '0')}\n`;
}

/** The first digit that becomes smaller is written last, alone: whatever is cut leaves no smaller number. */
async function lower(file: OpenFile, from: string, to: string): Promise<void> {
  if (from === to) return;
  let at = 0;
  while (from[at] === to[at]) at += 1;
  await file.write(Buffer.from(to.slice(at + 1)), at + 1);
  await file.write(Buffer.from(to.slice(at, at + 1)), at);
}
