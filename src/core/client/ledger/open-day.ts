import { ExportError } from '../../../lib/export-error.ts';
import { type LockOwner, mayBeAlive } from '../../../lib/process/lock-owner.ts';
import type { CounterFile, FoundCounter } from '../../../lib/disk/counter-file.ts';
import { emptyState, type LedgerDay, type LedgerState, allKeys, namedAccount } from './ledger-file.ts';

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
export class OpenDay {
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
