import { randomBytes } from 'node:crypto';
import { ExportError } from '../../../lib/export-error.ts';
import { type LockOwner, mayBeAlive, thisProcess } from '../../../lib/process/lock-owner.ts';
import type { CounterFile, FoundCounter } from '../../../lib/counter-file.ts';
import { type LedgerDay, ledgerFile, ledgerFiles, makeLedgerFolders } from './ledger-file.ts';
import { allKeys, namedAccount, type LedgerOf, ledgerName, takenOver } from './ledger-name.ts';
import { emptyState, type LedgerState } from './ledger-state.ts';

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

export interface Booking {
  readonly day: string;
  readonly credits: number;
}

/** What a correction did, in credits. */
export interface Correction {
  /** Undefined where the ledger was damaged. */
  readonly before: number | undefined;
  readonly after: number;
  /** The part of `after` that is in flight. */
  readonly inFlight: number;
}

export interface DiskLedgerOptions extends LedgerOf {
  readonly stateDir: string;
  /** Aborted: a process that keeps the ledger from this one is not waited for. */
  readonly abort?: AbortSignal | undefined;
}

/** A day as this process sees it. */
interface OpenDay {
  readonly file: CounterFile<LedgerState>;
  /** The key's own file of the day, where the ledger is that of an account. */
  readonly ofKey: CounterFile<LedgerState> | undefined;
  /** Credits that are booked and neither settled nor refunded. */
  inFlight: number;
  /** The same when this process last wrote it to the file; undefined before that. */
  written: number | undefined;
}

/** What is booked on a day, and how much of it this process has in flight. */
interface Balance {
  readonly credits: number;
  readonly own: number;
}

/** Entries are dropped or merged when there are more than this: a file has room for 130. */
const manyEntries = 120;

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

  function openDay(day: string): OpenDay {
    const known = days.get(day);
    if (known !== undefined) return known;
    const opened = {
      file: ledgerFile(stateDir, { ledger, day }, { self, abort }),
      ofKey: key === undefined ? undefined : ledgerFile(stateDir, { ledger: key, day }, { self, abort }),
      inFlight: 0,
      written: undefined,
    };
    days.set(day, opened);
    return opened;
  }

  /** A day with what the key's ledger has booked on it, once; of a day that was set nothing is missing. */
  function withTaken(state: LedgerState, { ofKey }: OpenDay, day: string): LedgerState {
    const { taken = [] } = state;
    if (ofKey === undefined || key === undefined || taken.includes(key) || taken.includes(allKeys)) return state;
    const { credits } = stateIn(ofKey.look(), ofKey.path, { ledger: key, day });
    return { ...state, credits: state.credits + credits, taken: [...taken, key] };
  }

  /** Changes a day's balance; resolves to false, and writes nothing, where `step` gives none. */
  function change(day: string, step: (before: Balance, open: OpenDay) => Balance | undefined): Promise<boolean> {
    const open = openDay(day);
    return open.file.change((found, path) => {
      const isGone = found === 'nothing yet' && open.written !== undefined;
      const state = stateIn(isGone ? 'damaged' : found, path, { ledger, day });
      const { credits, inFlight, taken } = withTaken(state, open, day);
      const inFile = inFlight.find(({ owner }) => owner.nonce === self.nonce)?.credits ?? 0;
      // A repair does not know what this process has in flight. The provider may charge it, so it is booked again.
      const lost = Math.max(0, (open.written ?? 0) - inFile);
      const after = step({ credits: credits + lost, own: inFile + lost }, open);
      if (after === undefined) return { result: false };
      const others = inFlight.filter(({ owner }) => owner.nonce !== self.nonce);
      // Its own entry goes to the end: the first ones were not written for the longest time.
      const own = after.own > 0 ? [{ credits: after.own, owner: self }] : [];
      const next = { credits: after.credits, inFlight: [...fewer(others), ...own], ...(taken && { taken }) };
      const onWritten = (): void => {
        open.inFlight = after.own;
        open.written = after.own;
      };
      return { result: true, next, onWritten };
    });
  }

  return {
    reserve: ({ day, credits, limit }) =>
      change(day, (before, { inFlight }) => {
        const total = before.credits + credits;
        return limit !== undefined && total > limit ? undefined : { credits: total, own: inFlight + credits };
      }),
    refund: async ({ day, credits }) => {
      await change(day, (before, { inFlight }) => {
        const returned = Math.min(credits, before.own);
        return { credits: Math.max(0, before.credits - returned), own: Math.max(0, inFlight - credits) };
      });
    },
    settle: async ({ day, credits }) => {
      const open = days.get(day);
      if (open === undefined) return;
      // The next booking publishes it to other processes; only when no booking may follow is it written by itself.
      open.inFlight = Math.max(0, open.inFlight - credits);
      if (open.inFlight === 0)
        await change(day, (before, { inFlight }) => ({ credits: before.credits, own: inFlight }));
    },
    booked: (day) => {
      const open = openDay(day);
      return open.file.change((found, path) => ({
        result: withTaken(stateIn(found, path, { ledger, day }), open, day).credits,
      }));
    },
    set: ({ day, credits }) => {
      const open = openDay(day);
      return open.file.change((found) => {
        const state = found === 'nothing yet' ? emptyState : found === 'damaged' ? undefined : found;
        const living = livingIn(state?.inFlight ?? []);
        const inFlight = sumOf(living);
        const after = credits + inFlight;
        const next = { credits: after, inFlight: living, taken: [allKeys] };
        return { result: { before: state?.credits, after, inFlight }, next };
      });
    },
    close: async () => {
      const open = [...days.values()];
      days.clear();
      await Promise.all(open.map(({ file }) => file.close()));
    },
  };
}

function newOwner(): LockOwner {
  return thisProcess(randomBytes(8).toString('hex'));
}

/** What living processes have in flight. The dead send nothing more. */
function livingIn(entries: LedgerState['inFlight']): LedgerState['inFlight'] {
  return entries.filter(({ owner }) => mayBeAlive(owner));
}

/**
 * Fewer entries where there are many. Nobody can tell whether processes of other containers live: those that were not
 * heard of for the longest time become one entry, which counts as alive.
 */
function fewer(entries: LedgerState['inFlight']): LedgerState['inFlight'] {
  if (entries.length < manyEntries) return entries;
  const living = livingIn(entries);
  const [oldest] = living;
  if (living.length < manyEntries || oldest === undefined) return living;
  const merged = living.slice(0, -manyEntries / 2);
  const owner = { ...oldest.owner, host: 'several', nonce: 'several' };
  return [{ credits: sumOf(merged), owner }, ...living.slice(merged.length)];
}

function sumOf(entries: LedgerState['inFlight']): number {
  return entries.reduce((sum, { credits }) => sum + credits, 0);
}

function stateIn(found: FoundCounter<LedgerState>, path: string, { ledger, day }: LedgerDay): LedgerState {
  if (found === 'nothing yet') return emptyState;
  if (found !== 'damaged') return found;
  const account = namedAccount(ledger);
  const whose = account === undefined ? '' : ` --account ${account}`;
  throw new ExportError('damaged', `the credit ledger ${path} is damaged`, {
    todo: `Look up the usage of ${day} (UTC) on the provider's page, then run: asset-export credits set <credits> --day ${day}${whose}`,
  });
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
