import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf, ExportError, messageOf } from '../../../lib/export-error.ts';
import { type Exclusion, exclusively } from '../../../lib/process/exclusively.ts';
import { makeFolder } from '../../../lib/make-folder.ts';
import { SyncedFile } from '../../../lib/synced-file.ts';
import { copyBytes, copyOf, type LedgerState, stateOf } from './ledger-state.ts';

export interface LedgerDay {
  /** `ledgerName` */
  readonly ledger: string;
  /** UTC, `YYYY-MM-DD`. */
  readonly day: string;
}

/** Every day of every ledger that has bookings, by its name, oldest first. @throws {ExportError} `cannotWrite` */
export async function ledgerFiles(stateDir: string): Promise<LedgerDay[]> {
  const names = await readdir(ledgerFolder(stateDir)).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return [];
    throw cannotWrite(error);
  });
  return names.sort().flatMap((name) => {
    const [, ledger, day] = /^([0-9a-f]{16}|account\.[\w.-]{1,64})-(\d{4}-\d\d-\d\d)$/.exec(name) ?? [];
    return ledger === undefined || day === undefined ? [] : [{ ledger, day }];
  });
}

function ledgerFolder(stateDir: string): string {
  return join(stateDir, 'ledger');
}

/** Apart from the ledgers, so that every file in their folder is a ledger. */
function lockFolder(stateDir: string): string {
  return join(stateDir, 'ledger-locks');
}

/** Makes the folders of the ledgers, for this user alone. @throws {ExportError} `cannotWrite` */
export async function makeLedgerFolders(stateDir: string): Promise<void> {
  try {
    await makeFolder(ledgerFolder(stateDir), 0o700);
    await makeFolder(lockFolder(stateDir), 0o700);
  } catch (error) {
    throw cannotWrite(error);
  }
}

/** What a change finds. */
export type FoundLedger = LedgerState | 'nothing yet' | 'damaged';

/** What a change makes of it. */
export interface Change<T> {
  readonly result: T;
  /** Absent: nothing is written. */
  readonly next?: Omit<LedgerState, 'version' | 'sequence'>;
  /** Called when it is written, before anybody else can change it. */
  readonly onWritten?: () => void;
}

/**
 * A day of one ledger: a file of fixed length that holds the state twice. It is made under another name, synced and
 * renamed, so that it appears whole, and then overwritten in place, which needs no room on the disk.
 */
export class LedgerFile {
  readonly #folder: string;
  readonly #path: string;
  readonly #exclusion: Exclusion;
  #open: SyncedFile | undefined;
  #failure: Error | undefined;

  constructor(stateDir: string, { ledger, day }: LedgerDay, who: Pick<Exclusion, 'self' | 'abort'>) {
    const name = `${ledger}-${day}`;
    this.#folder = ledgerFolder(stateDir);
    this.#path = join(this.#folder, name);
    this.#exclusion = { path: join(lockFolder(stateDir), name), ...who };
  }

  /**
   * Reads, decides and writes in one step that no other process interrupts; when it resolves, what it wrote is on the disk.
   * After a failed write or sync the file is not used again: it is unknown which of its bytes are on the disk.
   * @param work may be called again, when another process took the lock away from this one
   * @throws {ExportError} `cannotWrite`, `locked`, and what `work` throws
   */
  async change<T>(work: (found: FoundLedger, path: string) => Change<T>): Promise<T> {
    try {
      const { result, written } = await exclusively(this.#exclusion, (requireHeld) => {
        if (this.#failure !== undefined) throw this.#failure;
        const found = this.#read();
        const { result, next, onWritten } = work(found, this.#path);
        if (next === undefined) return { result, written: undefined };
        const sequence = typeof found === 'object' ? found.sequence + 1 : 1;
        const copy = copyOf({ version: 1, sequence, ...next });
        if (typeof found === 'object') this.#overwrite(copy, requireHeld);
        else this.#writeAnew(copy, requireHeld);
        onWritten?.();
        return { result, written: this.#open };
      });
      // Not under the lock: a sync takes long, and the next process's sync covers these bytes too.
      await written?.synced(this.#folder);
      return result;
    } catch (error) {
      if (error instanceof ExportError) throw error;
      this.#failure = cannotWrite(error);
      throw this.#failure;
    }
  }

  /** What it says now, by whichever copy is whole: another process may be writing the other one. */
  look(): { readonly found: FoundLedger; readonly path: string } {
    const found = existsSync(this.#path) ? (stateOf(readFileSync(this.#path)) ?? 'damaged') : 'nothing yet';
    return { found, path: this.#path };
  }

  async close(): Promise<void> {
    const open = this.#open;
    this.#open = undefined;
    await open?.close();
  }

  #read(): FoundLedger {
    const inode = statSync(this.#path, { throwIfNoEntry: false })?.ino;
    // Another process repaired or removed the file.
    if (this.#open?.inode !== inode) void this.close();
    if (inode === undefined) return 'nothing yet';
    this.#open ??= new SyncedFile(openSync(this.#path, 'r+'));
    const bytes = Buffer.allocUnsafe(2 * copyBytes + 1);
    const length = readSync(this.#open.fd, bytes, 0, bytes.length, 0);
    return stateOf(bytes.subarray(0, length)) ?? 'damaged';
  }

  #overwrite(copy: Buffer, requireHeld: () => void): void {
    for (const position of [0, copyBytes]) {
      requireHeld();
      this.#open?.write(copy, position);
    }
  }

  #writeAnew(copy: Buffer, requireHeld: () => void): void {
    const unfinished = `${this.#path}.${this.#exclusion.self.nonce}`;
    const whole = Buffer.alloc(2 * copyBytes);
    for (const position of [0, copyBytes]) copy.copy(whole, position);
    const fd = openSync(unfinished, 'w+');
    try {
      const file = new SyncedFile(fd);
      file.write(whole, 0);
      fsyncSync(fd);
      requireHeld();
      renameSync(unfinished, this.#path);
      void this.close();
      this.#open = file;
    } catch (error) {
      closeSync(fd);
      rmSync(unfinished, { force: true });
      throw error;
    }
  }
}

function cannotWrite(error: unknown): ExportError {
  if (error instanceof ExportError) return error;
  return new ExportError('cannotWrite', `Cannot read or write the credit ledger: ${messageOf(error)}.`, {
    todo: 'Free disk space, or name a writable folder with --state-dir or ASSET_EXPORT_STATE.',
    cause: error,
  });
}
