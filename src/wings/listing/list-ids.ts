import { basename, dirname } from 'node:path';
import { type ClientBudget, createClient } from '../../core/client/create-client.ts';
import type { ListingDialect } from '../../core/client/dialects.ts';
import type { ClientListener } from '../../core/client/client-events.ts';
import type { AnswerJournal } from '../../core/client/policies/with-journal.ts';
import type { Job } from '../../core/job/job-schema.ts';
import { tlsFor } from '../../core/job/tls-files.ts';
import type { ExportContext } from '../../core/run/export-context.ts';
import { Openings } from '../../core/run/homes/open-scratch.ts';
import { braked } from '../../core/run/run-brake.ts';
import { thenCleanUp } from '../../lib/clean-up.ts';
import { dayMs } from '../../lib/clock.ts';
import { ExportError } from '../../lib/export-error.ts';
import { exportPaths, pathIn } from '../../places/export/export-folder.ts';
import type { Lock } from '../../places/files/lock.ts';
import { openTally, type Tally } from '../../places/scratch/tally.ts';
import { accountOf, type ListAccount } from './list-account.ts';
import { removeUnproven, unprovenEnding, writeAccount, writeList } from './list-files.ts';
import { listPages, mostCalls } from './list-pages.ts';
import { Members } from './members.ts';
import { type KeptEntries, type ListSettings, listFiles, PageJournal } from './page-journal.ts';
import { NumberedWalk } from './walk/numbered-walk.ts';
import { RangeWalk } from './walk/range-walk.ts';
import { TokenWalk } from './walk/token-walk.ts';
import type { Walk, WalkCounts, WalkOptions } from './walk/walk.ts';
import { type ListQuery, totalOf } from './wire/list-body.ts';

export interface ListIdsRequest {
  readonly job: Pick<Job, 'service' | 'budget'>;
  readonly dialect: ListingDialect;
  readonly query: ListQuery;
  /** The list: a path, absolute. `.gz` and `.zst` compress. */
  readonly out: string;
  /** A folder that keeps the records of all pages as an export, absolute. */
  readonly records?: string | undefined;
  /** The number of members that the user knows. */
  readonly expect?: number | undefined;
  /** Most pages without members, in place of the usual number. */
  readonly proofCalls?: number | undefined;
  /** Throw away what an earlier process left. */
  readonly fresh: boolean;
}

/** What happens while a list is made. */
export type ListEvent =
  | { readonly kind: 'opened'; readonly keptPages: number; readonly startedAtMs: number }
  /** Most calls, as far as is known: before the first call, and when the total is known. */
  | { readonly kind: 'ceiling'; readonly calls: number; readonly empty: number; readonly total: number | undefined }
  | { readonly kind: 'answered'; readonly counts: WalkCounts; readonly calls: number; readonly credits: number }
  | { readonly kind: 'warning'; readonly message: string };

export interface ListContext extends Omit<ExportContext, 'stdin' | 'threads' | 'listener' | 'observe' | 'run'> {
  /** What the client says. */
  readonly listener: ClientListener;
  readonly onEvent: (event: ListEvent) => void;
}

export interface ListOutcome {
  readonly account: ListAccount;
  /** Where the list is: under its name, or that of one that is not proven. */
  readonly path: string;
  /** Calls and credits of this process. */
  readonly callsOfRun: number;
  readonly creditsOfRun: number;
  /** `notTolerated`: it is not proven, has no members, or not those that were expected. */
  readonly error: ExportError | undefined;
}

/** Where an unfinished list keeps its pages. */
export function listFolder(out: string): string {
  return `${out}.ids`;
}

/**
 * Lists the members of a filter, and proves that they are all. The same request resumes.
 * @throws {ExportError} what stopped it: `usage`, `unavailable`, `spent`, `locked`, `damaged`, `cannotWrite`, …
 */
export async function listIds(request: ListIdsRequest, context: ListContext): Promise<ListOutcome> {
  const { files } = context;
  const folder = listFolder(request.out);
  await files.makeFolder(pathIn(folder, exportPaths.run));
  const lock = await files.takeLock(folder);
  return thenCleanUp({
    work: async () => {
      if (request.fresh) await clear(folder, context);
      const outcome = await listHeld(request, folder, context);
      if (outcome.error === undefined) await clear(folder, context);
      return outcome;
    },
    hasFailed: ({ error }) => error !== undefined,
    cleanUp: [(outcome) => letGo(folder, lock, outcome?.error === undefined && outcome !== undefined, context)],
  });
}

/** Removes all but the lock. */
async function clear(folder: string, { files }: ListContext): Promise<void> {
  const names = [listFiles.start, listFiles.pages, listFiles.records, exportPaths.callCount, exportPaths.creditCount];
  for (const name of names) await files.remove(pathIn(folder, name));
}

async function letGo(folder: string, lock: Lock, isDone: boolean, { files }: ListContext): Promise<void> {
  const hasBegun = (await files.sizeOf(pathIn(folder, listFiles.start))) !== undefined;
  if (!isDone && hasBegun) {
    await lock.release();
    return;
  }
  await lock.remove();
  // Another process may have begun.
  if ((await files.list(folder)).length === 0) await files.remove(folder);
}

/** What is open while a list is made. */
interface OpenList {
  readonly request: ListIdsRequest;
  readonly folder: string;
  readonly journal: PageJournal;
  readonly kept: KeptEntries;
  readonly walk: Walk;
  readonly members: Members;
  readonly spent: ListSpending;
}

async function listHeld(request: ListIdsRequest, folder: string, context: ListContext): Promise<ListOutcome> {
  const { files, clock } = context;
  const open = new Openings();
  return thenCleanUp({
    work: async () => {
      const begin = { settings: settingsOf(request, context), startedAtMs: clock.now() };
      const { journal, kept } = await PageJournal.open(files, folder, begin);
      open.add(journal);
      if (request.records !== undefined && kept.entries.length === 0 && !request.fresh) {
        const { requireNoExport } = await import('./list-records.ts');
        await requireNoExport(request.records, context);
      }
      const spent = new ListSpending(
        open.add(await openTally(files, pathIn(folder, exportPaths.callCount))),
        open.add(await openTally(files, pathIn(folder, exportPaths.creditCount))),
        request.dialect.list.creditsPerPage,
      );
      const members = new Members();
      const walk = walkOf(request, members);
      takeUp(kept, walk, members);
      const opened = { request, folder, journal, kept, walk, members, spent };
      tellOpened(opened, context);
      await requestPages(opened, context);
      return finish(opened, context);
    },
    hasFailed: ({ error }) => error !== undefined,
    cleanUp: [() => open.close()],
  });
}

function settingsOf({ dialect, query, records }: ListIdsRequest, { service }: ListContext): ListSettings {
  const { filter, address, onlyVerified, flags } = query;
  const { origin } = new URL(service.url);
  const { name, list } = dialect;
  return {
    filter,
    address,
    onlyVerified,
    flags: { ...flags },
    limit: list.limit,
    dialect: name,
    origin,
    records: records !== undefined,
  };
}

function walkOf({ dialect, query, job, expect, proofCalls }: ListIdsRequest, members: Members): Walk {
  const { list } = dialect;
  const total = totalOf(dialect, query.filter);
  const options: WalkOptions = {
    limit: list.limit,
    concurrency: job.service.concurrency,
    direction: list.sort === undefined ? undefined : list.sort.sortDirection === 'asc' ? 'rising' : 'falling',
    total: total === 'none' ? 'none' : total === 'getGrouping' ? 'alone' : 'withPage',
    totalCounts: list.totalCounts,
    expect,
    proofCalls,
  };
  if (list.next === 'cursor') return new TokenWalk({ ...options, endsByToken: list.ends === 'token' });
  if (list.next === 'page') return new NumberedWalk(options, () => members.unique);
  return new RangeWalk(options);
}

function takeUp({ entries }: KeptEntries, walk: Walk, members: Members): void {
  for (const entry of entries) {
    if ('total' in entry) walk.resumeTotal(entry.total);
    else {
      members.add(entry);
      walk.resume(entry.request, entry.page);
    }
  }
}

function tellOpened({ kept, walk }: OpenList, { onEvent, clock }: ListContext): void {
  const { startedAtMs, entries } = kept;
  onEvent({ kind: 'opened', keptPages: entries.length, startedAtMs });
  if (entries.length > 0 && clock.now() - startedAtMs > dayMs) {
    const since = new Date(startedAtMs).toISOString().slice(0, 16).replace('T', ' ');
    onEvent({
      kind: 'warning',
      message: `this list was begun at ${since} UTC: it promises the members from then on. Start over with --fresh for a newer one`,
    });
  }
  tellCeiling(walk, onEvent);
}

function tellCeiling(walk: Walk, onEvent: ListContext['onEvent']): void {
  const { counts, mostEmpty: empty } = walk;
  onEvent({ kind: 'ceiling', calls: mostCalls(walk), empty, total: counts.totals[0] });
}

/** Keeps no answers of its own: pages have a journal. */
const noJournal: AnswerJournal = { find: () => Promise.resolve(undefined), append: () => Promise.resolve() };

async function requestPages(open: OpenList, given: ListContext): Promise<void> {
  const { request, walk, spent } = open;
  const { job, dialect, query } = request;
  const context = braked(given, job);
  const created = createClient({
    ...context,
    ...job.service,
    dialect: undefined,
    ...context.service,
    budget: pageBudget(request),
    journal: noJournal,
    tls: tlsFor(context.service.url, job.service.tls),
    sent: `${dialect.params} parameters of ${dialect.list[query.filter] ?? ''}, dialect ${dialect.name}`,
    onCall: () => spent.sent(),
    onFree: (attempt) => spent.returned(attempt),
  });
  let toldTotals = walk.counts.totals.length;
  const onAnswer = (): void => {
    const { totals } = walk.counts;
    if (totals.length > toldTotals && toldTotals === 0) tellCeiling(walk, context.onEvent);
    toldTotals = totals.length;
    context.onEvent({ kind: 'answered', counts: walk.counts, calls: spent.calls, credits: spent.credits });
  };
  const { retries } = job.service;
  await thenCleanUp({
    work: async () => {
      await listPages({ ...open, ...context, dialect, query, retries, client: created, onAnswer });
      created.throwIfFailed();
    },
    cleanUp: [() => created.close()],
  });
}

/** A page costs what the dialect says, whatever the job says of calls for ids. */
function pageBudget({ job, dialect }: ListIdsRequest): ClientBudget {
  return { ...job.budget, creditsPerCall: dialect.list.creditsPerPage };
}

/** Writes the list, or what there is of it. */
async function finish(open: OpenList, context: ListContext): Promise<ListOutcome> {
  const { request, walk, members, spent } = open;
  const { files, clock } = context;
  const verdict = walk.verdict();
  const count = members.unique;
  const error = whyNotDone({ request, walk, count });
  const path = error === undefined ? request.out : `${request.out}${unprovenEnding}`;
  const unnamed = error === undefined ? pathIn(open.folder, basename(request.out)) : path;
  const written = count === 0 ? undefined : await writeList(files, unnamed, members);
  if (error === undefined) {
    await keepRecords(open, unnamed, context);
    await files.rename(unnamed, path);
    await files.syncFolder(dirname(path));
  }
  const account = accountOf({
    ...request,
    counts: walk.counts,
    verdict,
    members: count,
    origin: new URL(context.service.url).origin,
    firstMs: open.kept.startedAtMs,
    lastMs: clock.now(),
    calls: spent.calls,
    credits: spent.credits,
    sha256: written?.sha256 ?? '',
    version: context.version,
  });
  if (written !== undefined) await writeAccount(files, path, account);
  if (error === undefined) await removeUnproven(files, request.out);
  return { account, path, error, ...spent.ofRun() };
}

/** Before the list has its name: the same command makes what is missing. */
async function keepRecords({ request, ...open }: OpenList, list: string, context: ListContext): Promise<void> {
  const { records } = request;
  if (records === undefined) return;
  const { exportRecords } = await import('./list-records.ts');
  const { calls, credits } = open.spent;
  const { startedAtMs } = open.kept;
  await exportRecords({ ...open, request: { ...request, records }, list, startedAtMs, calls, credits }, context);
}

function whyNotDone({
  request: { expect },
  walk,
  count,
}: {
  readonly request: ListIdsRequest;
  readonly walk: Walk;
  readonly count: number;
}): ExportError | undefined {
  const { proof, why = '', restCalls } = walk.verdict();
  if (count === 0)
    return new ExportError('notTolerated', 'no members: the service lists none', {
      todo: 'Check the address and the filter. Burnt assets are never listed.',
    });
  if (expect !== undefined && expect !== count)
    return new ExportError('notTolerated', `${count} members, and --expect is ${expect}`, {
      todo: 'Correct --expect, or start over with --fresh if the members changed.',
      facts: { members: count, expect },
    });
  if (proof !== 'none') return undefined;
  const rest =
    restCalls === undefined ? '' : ` About ${restCalls} more calls would settle the rest: --proof-calls N allows them.`;
  return new ExportError('notTolerated', `not proven: ${why}`, {
    todo: `Answered pages are kept, and cost nothing again.${rest} If you know the number of members, give it with --expect N.`,
    facts: { members: count, restCalls: restCalls ?? null },
  });
}

/** Calls of a list and their credits, over all processes. */
class ListSpending {
  readonly #calls: Tally;
  readonly #credits: Tally;
  readonly #price: number;
  readonly #before: { readonly calls: number; readonly credits: number };

  constructor(calls: Tally, credits: Tally, price: number) {
    this.#calls = calls;
    this.#credits = credits;
    this.#price = price;
    this.#before = { calls: calls.total(), credits: credits.total() };
  }

  get calls(): number {
    return this.#calls.total();
  }

  get credits(): number {
    return this.#credits.total();
  }

  ofRun(): { readonly callsOfRun: number; readonly creditsOfRun: number } {
    return { callsOfRun: this.calls - this.#before.calls, creditsOfRun: this.credits - this.#before.credits };
  }

  async sent(): Promise<void> {
    await Promise.all([this.#calls.add(1), this.#credits.add(this.#price)]);
  }

  async returned({ sent }: { readonly sent: boolean }): Promise<void> {
    await Promise.all([sent ? undefined : this.#calls.add(-1), this.#credits.add(-this.#price)]);
  }
}
