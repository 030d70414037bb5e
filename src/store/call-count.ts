import { exportPaths, pathIn } from './export-folder.ts';
import type { FileStore } from './file-store.ts';

/**
 * How many calls an export has sent over all its runs: never less than were really sent, whatever ends the process. A
 * loss of power may undo the last seconds; the credit ledger does not forget them.
 */
export interface CallCount {
  /** Resolves when the count includes one more call: awaited before the call is sent. */
  add(): Promise<void>;
  total(): number;
  close(): Promise<void>;
}

/** Decimal digits of fixed width: a small write in place, and one that is cut leaves no smaller number. */
const width = 16;

export async function readCallCount(files: FileStore, folder: string): Promise<number> {
  const bytes = await files.readAll(pathIn(folder, exportPaths.callCount));
  // A loss of power can leave other bytes than digits.
  const digits = /^\d+/.exec(Buffer.from(bytes ?? []).toString('latin1'));
  return digits === null ? 0 : Number(digits[0]);
}

export async function openCallCount(files: FileStore, folder: string): Promise<CallCount> {
  let total = await readCallCount(files, folder);
  const file = await files.open(pathIn(folder, exportPaths.callCount), 'update');
  let turn: Promise<void> = Promise.resolve();
  return {
    add: () => {
      total += 1;
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
