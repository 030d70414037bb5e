import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { open, type RootDatabase } from 'lmdb';
import { codeOf, ExportError, messageOf } from '../lib/export-error.ts';
import { makeLmdbFiles } from '../lib/lmdb-files.ts';
import { makeFolder } from '../store/make-folder.ts';

/** A day of one key's ledger: credits by what they are. */
export type LedgerFile = RootDatabase<number, string>;

/** Where a state folder keeps its ledgers. */
function ledgerFolder(stateDir: string): string {
  return join(stateDir, 'ledger');
}

/** Names a key without giving it away: 64 bits of its SHA-256. */
export function keyHash(apiKey: string): string {
  return createHash('sha256').update(apiKey.trim()).digest('hex').slice(0, 16);
}

export interface LedgerDay {
  readonly keyHash: string;
  /** UTC, `YYYY-MM-DD`. */
  readonly day: string;
}

/** Every day of every key that has bookings, by key, oldest first. @throws {ExportError} `cannotWrite` */
export async function ledgerFiles(stateDir: string): Promise<LedgerDay[]> {
  const names = await readdir(ledgerFolder(stateDir)).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return [];
    throw cannotWrite(error);
  });
  return names.sort().flatMap((name) => {
    const [, hash, day] = /^([0-9a-f]{16})-(\d{4}-\d\d-\d\d)$/.exec(name) ?? [];
    return hash === undefined || day === undefined ? [] : [{ keyHash: hash, day }];
  });
}

/** Opens the file of a day, and makes it where there is none. @throws {ExportError} `damaged`, and what the disk says */
export function openLedgerFile(stateDir: string, { keyHash: hash, day }: LedgerDay): LedgerFile {
  const path = join(ledgerFolder(stateDir), `${hash}-${day}`);
  requireWhole(path);
  const place = { path, noSubdir: true };
  makeLmdbFiles(place);
  // overlappingSync would resolve before the bytes are on the disk.
  return open<number, string>({ ...place, overlappingSync: false });
}

/** Does the work in one transaction, which is flushed when this resolves. @throws what the disk says */
export async function inTransaction<T>(file: LedgerFile, work: () => T): Promise<T> {
  try {
    return await file.transaction(work);
  } catch (error) {
    throw await causeOf(error);
  }
}

/** Why a commit failed is in a promise beside the error, which ends the program unless somebody waits for it. */
async function causeOf(error: unknown): Promise<unknown> {
  const { commitError } = error as { commitError?: Promise<never> };
  if (commitError === undefined) return error;
  const why = commitError.catch((cause: unknown) => cause);
  return Promise.race([why, setImmediate(error)]);
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

/** Makes the folder of the ledgers, for this user alone. @throws {ExportError} `cannotWrite` */
export async function makeLedgerFolder(stateDir: string): Promise<void> {
  await makeFolder(ledgerFolder(stateDir), 0o700).catch((error: unknown) => {
    throw cannotWrite(error);
  });
}

export function cannotWrite(error: unknown): ExportError {
  if (error instanceof ExportError) return error;
  return new ExportError('cannotWrite', `The credit ledger cannot be read or written: ${messageOf(error)}.`, {
    todo: 'Make room, or name a folder you may write to with --state-dir or ASSET_EXPORT_STATE.',
    cause: error,
  });
}
