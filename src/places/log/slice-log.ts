import { z } from 'zod';
import { ExportError } from '../../lib/export-error.ts';
import { checkedJson, valueOfCheckedJson } from '../../lib/hash/sha256.ts';
import { inTurns, type ObjectStore, readObject } from '../objects/object-store.ts';
import type { Commit, Spent, FileFacts } from '../export/export-facts.ts';
import { commitSchema } from '../export/fact-schemas.ts';
import { exportPaths } from '../export/export-folder.ts';
import { randomUUID } from 'node:crypto';
import type { Clock } from '../../lib/clock.ts';

/** Names of the files that say how far the slices of an export are. They are removed once it is complete. */
export const sliceNames = {
  start: exportPaths.start,
  logs: '.run/log/',
  slices: '.run/slices/',
  /** The entries of a slice: the table `ids`. */
  ids: (slice: number) => `.run/slices/${padded(slice, 5)}.csv.gz`,
  throwingAway: '.run/throwing-away',
  log: (slice: number) => `.run/log/${padded(slice, 5)}/`,
  logEntry: (slice: number, number: number) => `.run/log/${padded(slice, 5)}/${padded(number, 6)}.json`,
  /** Heartbeat of a holder. */
  alive: (nonce: string) => `.run/alive/${nonce}.json`,
  /** The holder that a heartbeat is of; undefined for the name of any other object. */
  nonceOf: (name: string) => /^\.run\/alive\/(.+)\.json$/.exec(name)?.[1],
  /** Answers that a holder left when it was told to stop. */
  answers: (slice: number, nonce = '') => `.run/answers/${padded(slice, 5)}/${nonce === '' ? '' : `${nonce}/`}`,
  records: '.run/runs/',
  /** What the runs of a process did. */
  record: (id: string) => `.run/runs/${id}.jsonl`,
  /** The folder of a slice in the scratch folder of a process. */
  scratch: (slice: number) => padded(slice, 5),
} as const;

/** The number in the name of an entry in the folder of a log; undefined for any other name. */
function numberOfLogEntry(name: string): number | undefined {
  const [, number] = /^(\d{6,})\.json$/.exec(name) ?? [];
  return number === undefined ? undefined : Number(number);
}

/** The slice whose log lies in a folder of `sliceNames.logs`, named with its slash; none for any other name. */
function sliceOfLogFolder(name: string): number[] {
  const [, slice] = /^(\d{5,})\/$/.exec(name) ?? [];
  return slice === undefined ? [] : [Number(slice)];
}

function padded(number: number, digits: number): string {
  return String(number).padStart(digits, '0');
}

/** Calls sent, and credits that these may have cost. */
const spentSchema = z.object({ calls: z.number(), credits: z.number() });

/** By the scratch folder in which they were counted, as its id names it. */
const spendingSchema = z.record(z.string(), spentSchema);

const entrySchema = z.discriminatedUnion('kind', [
  /**
   * `nonce` names the claim, `scratch` the local folder of its holder. `spent`: what the holders before are known to have spent. It
   * repeats every commit: nothing before it has to be read. Now and then a holder claims its slice anew.
   */
  z.object({
    kind: z.literal('claim'),
    nonce: z.string(),
    scratch: z.string(),
    spent: spendingSchema,
    commits: z.array(commitSchema),
  }),
  z.object({ kind: z.literal('commit'), nonce: z.string(), commit: commitSchema }),
  /** `answered`: ids of the slice whose answers came, those in committed parts among them; the others' answers lie in the bucket. */
  z.object({
    kind: z.literal('release'),
    nonce: z.string(),
    spent: spendingSchema,
    answered: z.number().default(0),
  }),
  /** Repeats every commit, so that who completes the export reads one entry a slice. */
  z.object({ kind: z.literal('done'), nonce: z.string(), commits: z.array(commitSchema), spent: spendingSchema }),
]);

export type LogEntry = z.infer<typeof entrySchema>;
export type Spending = z.infer<typeof spendingSchema>;

/** What the entries of a log that were read so far add up to. */
export interface LogState {
  /** Number of the entry that comes next, and of the one after the last claim. */
  readonly next: number;
  readonly sinceClaim: number;
  /** Who put the last claim; undefined before it, and after a release or the end. */
  readonly holder: { readonly nonce: string; readonly scratch: string } | undefined;
  readonly isDone: boolean;
  /** Ids that were answered when the last holder released the slice; 0 from the next claim on. */
  readonly answered: number;
  /** By part. */
  readonly commits: ReadonlyMap<number, Commit>;
  readonly spent: Spending;
}

/** The map is added to: parts may be many. */
type KnownState = LogState & { readonly commits: Map<number, Commit> };

function nothing(): KnownState {
  return { next: 0, sinceClaim: 0, holder: undefined, isDone: false, answered: 0, commits: new Map(), spent: {} };
}

/**
 * The log of a slice: numbered files, put one after another. Only one process can put each number, so a claim fences off every
 * former holder. It is the checkpoint of the slice, and in a bucket its lock.
 */
export class SliceLog {
  readonly slice: number;
  readonly #store: ObjectStore;
  #state = nothing();

  constructor(store: ObjectStore, slice: number) {
    this.slice = slice;
    this.#store = store;
  }

  get state(): LogState {
    return this.#state;
  }

  /** Reads the entries that were added. Of a log that was removed nobody is the holder. @throws {ExportError} `damaged` */
  async refresh(): Promise<LogState> {
    const known = this.#state.next - 1;
    let isKnownThere = known < 0;
    const numbers: number[] = [];
    for await (const name of this.#store.names(sliceNames.log(this.slice))) {
      const number = numberOfLogEntry(name);
      isKnownThere ||= number === known;
      if (number !== undefined && number > known) numbers.push(number);
    }
    // The export was completed or thrown away meanwhile: nobody holds what is gone.
    if (!isKnownThere) {
      this.#state = { ...this.#state, holder: undefined };
      return this.#state;
    }
    // What a claim or the end repeats is not read again.
    const unread: LogEntry[] = [];
    let first = Math.max(...numbers, known) + 1;
    while (first > this.#state.next && !repeatsAll(unread.at(-1))) {
      first -= 1;
      unread.push(await this.#read(first));
    }
    this.#state = { ...this.#state, next: first };
    for (const entry of unread.reverse()) this.#state = afterEntry(this.#state, entry);
    return this.#state;
  }

  /** Puts the next entry. `taken`: another process put that number, and nothing was added. */
  async append(entry: LogEntry): Promise<'put' | 'taken'> {
    const name = sliceNames.logEntry(this.slice, this.#state.next);
    const bytes = checkedJson(entry);
    if ((await this.#store.putNew(name, { bytes })) === 'taken') {
      // It may be this entry: the answer of an earlier attempt was lost.
      if (!bytes.equals(await readObject(this.#store, name))) return 'taken';
    }
    this.#state = afterEntry(this.#state, entry);
    return 'put';
  }

  async #read(number: number): Promise<LogEntry> {
    const name = sliceNames.logEntry(this.slice, number);
    const parsed = entrySchema.safeParse(valueOfCheckedJson(await readObject(this.#store, name)));
    if (parsed.success) return parsed.data;
    throw new ExportError('damaged', `${name} is damaged: it is not an entry of the log of a slice`, {
      todo: 'Restore it from a copy, or start over with --fresh.',
    });
  }
}

function repeatsAll(entry: LogEntry | undefined): boolean {
  return entry?.kind === 'claim' || entry?.kind === 'done';
}

function afterEntry(state: KnownState, entry: LogEntry): KnownState {
  const next = state.next + 1;
  switch (entry.kind) {
    case 'claim': {
      const { nonce, scratch, spent } = entry;
      const commits = byPart(entry.commits);
      const holder = { nonce, scratch };
      return { ...state, next, sinceClaim: next, isDone: false, answered: 0, commits, spent, holder };
    }
    case 'commit':
      state.commits.set(entry.commit.part, entry.commit);
      return { ...state, next };
    case 'release':
      return { ...state, next, holder: undefined, answered: entry.answered, spent: entry.spent };
    case 'done': {
      const { commits, spent } = entry;
      return { ...state, next, holder: undefined, isDone: true, commits: byPart(commits), spent };
    }
  }
}

function byPart(commits: readonly Commit[]): Map<number, Commit> {
  return new Map(commits.map((commit) => [commit.part, commit]));
}

/** The larger of each: a count never shrinks. */
export function withSpent(spending: Spending, scratch: string, spent: Spent): Spending {
  const before = spending[scratch] ?? { calls: 0, credits: 0 };
  const calls = Math.max(before.calls, spent.calls);
  return { ...spending, [scratch]: { calls, credits: Math.max(before.credits, spent.credits) } };
}

/** The sum over all scratch folders. */
function sumOfSpending(spending: Spending): Spent {
  return Object.values(spending).reduce(
    (sum, { calls, credits }) => ({ calls: sum.calls + calls, credits: sum.credits + credits }),
    { calls: 0, credits: 0 },
  );
}

/** The committed parts of slices, in order. */
export function commitsOf(logs: Iterable<SliceLog>): Commit[] {
  return [...logs].flatMap(({ state }) => [...state.commits.values()]).sort((a, b) => a.part - b.part);
}

/** What was counted in a scratch folder of a slice, and is not in its log. */
export interface SpentInScratch {
  readonly scratch: string;
  spent(): Spent;
}

/** The sum over slices. @param more what is known of a slice besides its log */
export function spentOf(
  logs: Iterable<SliceLog>,
  more: (log: SliceLog) => SpentInScratch | undefined = () => undefined,
): Spent {
  let sum: Spent = { calls: 0, credits: 0 };
  for (const log of logs) {
    const known = more(log);
    const { spent } = log.state;
    const { calls, credits } = sumOfSpending(
      known === undefined ? spent : withSpent(spent, known.scratch, known.spent()),
    );
    sum = { calls: sum.calls + calls, credits: sum.credits + credits };
  }
  return sum;
}

/** The logs of every slice that was ever claimed, read to their ends, by slice. */
export async function readLogs({ store }: { readonly store: ObjectStore }): Promise<Map<number, SliceLog>> {
  const slices: number[] = [];
  for await (const name of store.names(sliceNames.logs)) slices.push(...sliceOfLogFolder(name));
  const logs = new Map(slices.map((slice) => [slice, new SliceLog(store, slice)]));
  await inTurns([...logs.values()], async (log) => {
    await log.refresh();
  });
  return logs;
}

interface Committed {
  readonly store: ObjectStore;
  readonly clock: Pick<Clock, 'sleep'>;
}

/** A store may show an object a moment after it was put: so often it is looked for again, after so many milliseconds each. */
const looksAgain = 5;
const lookAgainMs = 1000;

/** What is wrong with a file of each part that is damaged, by part: its path and a sentence. Bytes in a folder are not read. */
export async function partsWithDamage(
  { store, clock }: Committed,
  files: readonly FileFacts[],
): Promise<ReadonlyMap<number, string>> {
  const damaged = new Map<number, string>();
  await inTurns(files, async ({ path, part, bytes, sha256 }) => {
    let found = await store.look(path);
    for (let look = 0; found === undefined && store.isShared && look < looksAgain; look += 1) {
      await clock.sleep(lookAgainMs);
      found = await store.look(path);
    }
    if (found?.bytes === bytes && (found.sha256 ?? sha256) === sha256) return;
    const now =
      found === undefined ? 'is missing' : found.bytes === bytes ? 'has other bytes' : `has ${found.bytes} now`;
    damaged.set(part, `${path} was committed with ${bytes} bytes, but ${now}`);
  });
  return damaged;
}

/** Takes the commits of parts out of the logs, so that the next run makes them again. Gives how many there were. */
export async function withdrawCommits(
  { store, address }: Pick<Committed, 'store'> & { readonly address: string },
  parts: ReadonlyMap<number, string>,
): Promise<number> {
  let withdrawn = 0;
  for (const log of (await readLogs({ store })).values()) {
    const all = commitsOf([log]);
    const commits = all.filter(({ part }) => !parts.has(part));
    if (commits.length === all.length) continue;
    const by = { nonce: randomUUID(), spent: log.state.spent };
    await log.append({ kind: 'claim', ...by, scratch: address, commits });
    await log.append({ kind: 'release', ...by, answered: 0 });
    withdrawn += all.length - commits.length;
  }
  return withdrawn;
}
