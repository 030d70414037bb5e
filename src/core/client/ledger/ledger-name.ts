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
