import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { codeOf, ExportError, messageOf } from '../../../lib/export-error.ts';
import { type Exclusion, ownerSchema } from '../../../lib/process/lock-owner.ts';
import { makeFolder, refusesLinks, withoutLinks } from '../../../lib/disk/on-disk.ts';
import { CounterFile, type CounterLayout } from '../../../lib/disk/counter-file.ts';
import { sha256 } from '../../../lib/hash/sha256.ts';

/** Whose credits a ledger books: those of a key, or of an account, to which several keys may belong. */
export interface LedgerOf {
  /** Only its hash is kept. An account without it takes nothing over. */
  readonly apiKey?: string | undefined;
  readonly account?: string | undefined;
}

/** What an account may be called: it is part of the names of files. */
export const accountPattern = /^[A-Za-z0-9._-]{1,64}$/;

export const accountRule = 'must be 1 to 64 letters, digits, dots, dashes and underscores';

const mark = 'account.';

/** Names a key without giving it away: 64 bits of its SHA-256. */
export function keyHash(apiKey: string): string {
  return sha256(apiKey.trim()).slice(0, 16);
}

/** The name of a ledger. That of an account has a dot, which no hash has. */
export function ledgerName({ apiKey = '', account }: LedgerOf): string {
  return account === undefined ? keyHash(apiKey) : `${mark}${account}`;
}

/** The account that a name is of; undefined for the hash of a key. */
export function namedAccount(name: string): string | undefined {
  return name.startsWith(mark) ? name.slice(mark.length) : undefined;
}

/** The ledger whose bookings an account takes over, if there is one. */
export function takenOver({ apiKey, account }: LedgerOf): string | undefined {
  return account === undefined || apiKey === undefined ? undefined : keyHash(apiKey);
}

/** Stands for every key among those that an account took over: its day was set to the provider's figure, which includes them all. */
export const allKeys = 'all keys';

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

/** A day of one ledger. */
export function ledgerFile(
  stateDir: string,
  { ledger, day }: LedgerDay,
  who: Pick<Exclusion, 'self' | 'abort'>,
): CounterFile<LedgerState> {
  const name = `${ledger}-${day}`;
  return new CounterFile({
    ...ledgerLayout,
    path: join(ledgerFolder(stateDir), name),
    exclusion: { path: join(lockFolder(stateDir), name), ...who },
    onFailure: (error) => (refusesLinks(error) ? withoutLinks(stateDir, 'symbolic') : cannotWrite(error)),
  });
}

function cannotWrite(error: unknown): ExportError {
  if (error instanceof ExportError) return error;
  return new ExportError('cannotWrite', `Cannot read or write the credit ledger: ${messageOf(error)}.`, {
    todo: 'Free disk space, or name a writable folder with --state-dir or ASSET_EXPORT_STATE.',
    cause: error,
  });
}

const credits = z.number().int().nonnegative();

const stateSchema = z.object({
  version: z.literal(1),
  /** One more with each change. */
  sequence: z.number().int(),
  /** What is booked on the day. */
  credits,
  /** How much of it each process has in flight. */
  inFlight: z.array(z.object({ credits, owner: ownerSchema })),
  /** Of an account: the ledgers of keys whose bookings of the day are in `credits`; `allKeys` once the day was set. */
  taken: z.array(z.string()).optional(),
  /** The calls that are booked, and their price; absent where calls of a key were taken over. */
  calls: z.number().int().nonnegative().optional(),
  price: z.union([credits, z.literal('several')]).optional(),
});

/** What a day's file says. */
export type LedgerState = z.infer<typeof stateSchema>;

export const emptyState: LedgerState = { version: 1, sequence: 0, credits: 0, inFlight: [], calls: 0 };

/** More than 130 processes fit. */
export const ledgerLayout: CounterLayout<LedgerState> = { schema: stateSchema, copyBytes: 32_768 };
