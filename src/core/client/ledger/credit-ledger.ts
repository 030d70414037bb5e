import { randomBytes } from 'node:crypto';
import type { CounterFile, FoundCounter } from '../../../lib/disk/counter-file.ts';
import { type LockOwner, thisProcess, mayBeAlive } from '../../../lib/process/lock-owner.ts';
import {
  type LedgerDay,
  ledgerFile,
  ledgerFiles,
  type LedgerState,
  makeLedgerFolders,
  type LedgerOf,
  ledgerName,
  takenOver,
  emptyState,
  allKeys,
  namedAccount,
} from './ledger-file.ts';
import { ExportError } from '../../../lib/export-error.ts';

/** What is booked on a day, and how much of it this process has in flight. */
interface Balance {
  readonly credits: number;
  readonly own: number;
  readonly booked: CallsBooked;
}

/** How many calls are booked, and at which price; undefined where that is not known. */
type CallsBooked = Pick<LedgerState, 'calls' | 'price'>;

function oneMore({ calls, price }: CallsBooked, credits: number): CallsBooked {
  if (calls === undefined) return {};
  return { calls: calls + 1, price: calls === 0 || price === credits ? credits : 'several' };
}

function oneLess({ calls, price }: CallsBooked): CallsBooked {
  return calls === undefined ? {} : { calls: Math.max(0, calls - 1), ...(price === undefined ? {} : { price }) };
}

/** Entries are dropped or merged when there are more than this: a file has room for 130. */
const manyEntries = 120;

/** What a correction did, in credits. */
export interface Correction {
  /** Undefined where the ledger was damaged. */
  readonly before: number | undefined;
  readonly after: number;
  /** The part of `after` that is in flight. */
  readonly inFlight: number;
  /** The calls of `before`, where all had one price. */
  readonly calls?: { readonly number: number; readonly price: number } | undefined;
}

/** A day of a ledger as this process sees it. */
class OpenDay {
  readonly #name: LedgerDay;
  readonly #key: string | undefined;
  readonly #file: CounterFile<LedgerState>;
  /** The key's own file of the day, where the ledger is that of an account. */
  readonly #ofKey: CounterFile<LedgerState> | undefined;
  readonly #self: LockOwner;
  /** Credits that are booked and neither settled nor refunded. */
  #inFlight = 0;
  /** The same when this process last wrote it to the file; undefined before that. */
  #written: number | undefined;

  /** @param key whose own ledger is taken over, where the ledger is that of an account */
  constructor(
    name: LedgerDay,
    key: string | undefined,
    fileOf: (name: LedgerDay) => CounterFile<LedgerState>,
    self: LockOwner,
  ) {
    this.#name = name;
    this.#key = key;
    this.#file = fileOf(name);
    this.#ofKey = key === undefined ? undefined : fileOf({ ledger: key, day: name.day });
    this.#self = self;
  }

  reserve(credits: number, limit: number | undefined): Promise<boolean> {
    return this.#change((before) => {
      const total = before.credits + credits;
      if (limit !== undefined && total > limit) return undefined;
      return { credits: total, own: this.#inFlight + credits, booked: oneMore(before.booked, credits) };
    });
  }

  async refund(credits: number): Promise<void> {
    await this.#change((before) => {
      const returned = Math.min(credits, before.own);
      const own = Math.max(0, this.#inFlight - credits);
      return { credits: Math.max(0, before.credits - returned), own, booked: oneLess(before.booked) };
    });
  }

  /** The next booking publishes it to other processes; only when no booking may follow is it written by itself. */
  async settle(credits: number): Promise<void> {
    this.#inFlight = Math.max(0, this.#inFlight - credits);
    if (this.#inFlight === 0) await this.#change((before) => ({ ...before, own: this.#inFlight }));
  }

  booked(): Promise<number> {
    return this.#file.change((found, path) => ({
      result: this.#withTaken(stateIn(found, path, this.#name)).credits,
    }));
  }

  set(credits: number): Promise<Correction> {
    return this.#file.change((found) => {
      const state = found === 'nothing yet' ? emptyState : found === 'damaged' ? undefined : found;
      const living = livingIn(state?.inFlight ?? []);
      const inFlight = sumOf(living);
      const after = credits + inFlight;
      const { calls: number, price } = state ?? {};
      const next = { credits: after, inFlight: living, taken: [allKeys], ...callsOf(state ?? {}) };
      const calls = number === undefined || typeof price !== 'number' ? undefined : { number, price };
      return { result: { before: state?.credits, after, inFlight, calls }, next };
    });
  }

  close(): Promise<void> {
    return this.#file.close();
  }

  /** Changes the balance; resolves to false, and writes nothing, where `step` gives none. */
  #change(step: (before: Balance) => Balance | undefined): Promise<boolean> {
    return this.#file.change((found, path) => {
      const isGone = found === 'nothing yet' && this.#written !== undefined;
      const state = stateIn(isGone ? 'damaged' : found, path, this.#name);
      const known = this.#withTaken(state);
      const { credits, inFlight, taken } = known;
      const inFile = inFlight.find(({ owner }) => owner.nonce === this.#self.nonce)?.credits ?? 0;
      // A repair does not know what this process has in flight. The provider may charge it, so it is booked again.
      const lost = Math.max(0, (this.#written ?? 0) - inFile);
      const after = step({ credits: credits + lost, own: inFile + lost, booked: lost > 0 ? {} : callsOf(known) });
      if (after === undefined) return { result: false };
      const others = inFlight.filter(({ owner }) => owner.nonce !== this.#self.nonce);
      // Its own entry goes to the end: the first ones were not written for the longest time.
      const own = after.own > 0 ? [{ credits: after.own, owner: this.#self }] : [];
      const next = {
        credits: after.credits,
        inFlight: [...fewer(others), ...own],
        ...(taken && { taken }),
        ...after.booked,
      };
      const onWritten = (): void => {
        this.#inFlight = after.own;
        this.#written = after.own;
      };
      return { result: true, next, onWritten };
    });
  }

  /** The state with what the key's ledger has booked on the day, once; of a day that was set nothing is missing. */
  #withTaken(state: LedgerState): LedgerState {
    const key = this.#key;
    const { taken = [] } = state;
    if (this.#ofKey === undefined || key === undefined || taken.includes(key) || taken.includes(allKeys)) return state;
    const { credits } = stateIn(this.#ofKey.look(), this.#ofKey.path, { ledger: key, day: this.#name.day });
    const sum = { ...state, credits: state.credits + credits, taken: [...taken, key] };
    return credits === 0 ? sum : { ...sum, calls: undefined, price: undefined };
  }
}

function callsOf({ calls, price }: CallsBooked): CallsBooked {
  return calls === undefined ? {} : { calls, ...(price === undefined ? {} : { price }) };
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

/** @throws {ExportError} `damaged` */
export function stateIn(found: FoundCounter<LedgerState>, path: string, { ledger, day }: LedgerDay): LedgerState {
  if (found === 'nothing yet') return emptyState;
  if (found !== 'damaged') return found;
  const account = namedAccount(ledger);
  const whose = account === undefined ? '' : ` --account ${account}`;
  throw new ExportError('damaged', `the credit ledger ${path} is damaged`, {
    todo: `Look up the usage of ${day} (UTC) on the provider's page, then run: asset-export credits set <credits> --day ${day}${whose}`,
  });
}

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

interface Booking {
  readonly day: string;
  readonly credits: number;
}

export interface DiskLedgerOptions extends LedgerOf {
  readonly stateDir: string;
  /** Aborted: a process that keeps the ledger from this one is not waited for. */
  readonly abort?: AbortSignal | undefined;
}

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
  const fileOf = (name: LedgerDay): CounterFile<LedgerState> => ledgerFile(stateDir, name, { self, abort });

  function on(day: string): OpenDay {
    const known = days.get(day);
    if (known !== undefined) return known;
    const opened = new OpenDay({ ledger, day }, key, fileOf, self);
    days.set(day, opened);
    return opened;
  }

  return {
    reserve: ({ day, credits, limit }) => on(day).reserve(credits, limit),
    refund: ({ day, credits }) => on(day).refund(credits),
    settle: async ({ day, credits }) => days.get(day)?.settle(credits),
    booked: (day) => on(day).booked(),
    set: ({ day, credits }) => on(day).set(credits),
    close: async () => {
      const open = [...days.values()];
      days.clear();
      await Promise.all(open.map((each) => each.close()));
    },
  };
}

function newOwner(): LockOwner {
  return thisProcess(randomBytes(8).toString('hex'));
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

/** A ledger that ends with the process: for runs against a service inside the same process, where credits cost nothing. */
export function createMemoryLedger(): CreditLedger {
  const days = new Map<string, number>();
  const bookedOn = (day: string): number => days.get(day) ?? 0;
  return {
    reserve: ({ day, credits, limit }) => {
      const total = bookedOn(day) + credits;
      const fits = limit === undefined || total <= limit;
      if (fits) days.set(day, total);
      return Promise.resolve(fits);
    },
    refund: ({ day, credits }) => {
      days.set(day, Math.max(0, bookedOn(day) - credits));
      return Promise.resolve();
    },
    settle: () => Promise.resolve(),
    booked: (day) => Promise.resolve(bookedOn(day)),
    close: () => Promise.resolve(),
  };
}
