import { basename, dirname, join } from 'node:path';
import { overrunOf } from '../../core/client/policies/shared-pace.ts';
import { braked } from '../../core/run/follow-run.ts';
import { clientOf } from '../../core/work/make-parts.ts';
import { ClosingStack, thenCleanUp } from '../../lib/end-work.ts';
import { dayMs } from '../../lib/clock.ts';
import { exportPaths, pathIn, unprovenEnding } from '../../places/export/export-folder.ts';
import type { Lock } from '../../places/files/lock.ts';
import { openTally, type Tally } from '../../places/export/export-facts.ts';
import { beganAt, listAccountOf } from './list-account.ts';
import { readAccount, removeUnproven, writeAccount, writeList } from './list-files.ts';
import { listPages, mostListCalls } from './list-pages.ts';
import { type ListContext, listFolder, type ListIdsRequest, type ListOutcome } from './list-request.ts';
import { changedBetween, readListStart } from './list-start.ts';
import { readManifest } from '../../places/export/manifest.ts';
import { Members } from './members.ts';
import { originOf, settingsOf, walkOf } from './open-walk.ts';
import { isOfNoUse, journalPaths, type KeptEntries, PageJournal } from './page-journal.ts';
import type { Walk, ListVerdict } from './walk/walk.ts';
import { ExportError } from '../../lib/export-error.ts';
import { count, plural } from '../../lib/format-text.ts';
import { formOfName } from '../../core/ids/id-input.ts';
import type { Reads } from '../../places/files/disk.ts';

/**
 * Lists the members of a filter, and proves that they are all. The same request resumes.
 * @throws {ExportError} what stopped it: `usage`, `unavailable`, `spent`, `locked`, `damaged`, `cannotWrite`, …
 */
export async function listIds(request: ListIdsRequest, context: ListContext): Promise<ListOutcome> {
  const { files } = context;
  const folder = listFolder(request.out);
  await requireTargets(request, files);
  const isNew = (await files.sizeOf(folder)) === undefined;
  await files.makeFolder(pathIn(folder, exportPaths.run));
  const lock = await files.takeLock(folder);
  return thenCleanUp({
    work: async () => {
      const ended = isNew || request.fresh ? undefined : await endedBefore(request, context);
      if (request.fresh || (ended === undefined && (await isOfNoUse(files, folder, settingsOf(request, context)))))
        await clear(request, context);
      const outcome = ended ?? (await listHeld(request, folder, context));
      if (outcome.error === undefined) await clear(request, context);
      return outcome;
    },
    hasFailed: ({ error }) => error !== undefined,
    cleanUp: [(outcome) => letGo(request, lock, outcome?.error === undefined && outcome !== undefined, context)],
  });
}

/** A list that a process finished, and whose pages it did not remove to the end. */
async function endedBefore(request: ListIdsRequest, context: ListContext): Promise<ListOutcome | undefined> {
  const { out, records, expect } = request;
  const { files } = context;
  const account = await readAccount(files, out);
  const start = await readListStart(files, listFolder(out));
  const settings = settingsOf(request, context);
  // The start goes last. Where it is gone too, the records say of which list they are.
  const manifest = records === undefined ? undefined : await readManifest(files, records);
  const begins = [
    ...(start ? [start.startedAtMs] : []),
    ...(records === undefined ? [] : [manifest?.startedAtMs ?? 0]),
  ];
  if (account === undefined || begins.length === 0) return undefined;
  if (!begins.every((startedAtMs) => beganAt(account, startedAtMs))) return undefined;
  if (start !== undefined && changedBetween(start.settings, settings) !== undefined) return undefined;
  if (account.filter.address !== settings.address || (expect ?? account.members) !== account.members) return undefined;
  await removeUnproven(files, out);
  return { account, path: out, error: undefined, callsOfRun: 0, creditsOfRun: 0 };
}

/** Removes all but the lock. */
async function clear({ out }: ListIdsRequest, { files }: ListContext): Promise<void> {
  const folder = listFolder(out);
  const names = [basename(out), exportPaths.callCount, exportPaths.creditCount].map((name) => pathIn(folder, name));
  for (const path of journalPaths(folder).toSpliced(-1, 0, ...names)) await files.remove(path);
}

/** What was refused before the first call leaves nothing behind. */
async function letGo(request: ListIdsRequest, lock: Lock, isDone: boolean, context: ListContext): Promise<void> {
  const { files } = context;
  const folder = listFolder(request.out);
  const hasBegun = (await files.sizeOf(pathIn(folder, exportPaths.callCount))) !== undefined;
  if (!isDone && hasBegun) {
    await lock.release();
    return;
  }
  if (!isDone) await clear(request, context);
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
  const open = new ClosingStack();
  return thenCleanUp({
    work: async () => {
      const begin = { settings: settingsOf(request, context), startedAtMs: clock.now() };
      const { journal, kept } = await PageJournal.open(files, folder, begin);
      open.add(journal);
      const isNew = kept.entries.length === 0 && !request.fresh;
      if (request.records !== undefined && isNew) await requireNoExport(request.records, files);
      const spent = new ListSpending(
        open.add(await openTally(files, pathIn(folder, exportPaths.callCount))),
        open.add(await openTally(files, pathIn(folder, exportPaths.creditCount))),
        request.dialect.list.creditsPerPage,
      );
      const members = new Members();
      const walk = walkOf(request, kept);
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

function takeUp({ entries }: KeptEntries, walk: Walk, members: Members): void {
  for (const entry of entries) {
    if ('total' in entry) walk.resumeTotal(entry.total);
    else {
      members.add(entry);
      walk.resume(entry.request, entry.page);
    }
  }
}

function tellOpened({ kept, walk, request }: OpenList, { onEvent, clock }: ListContext): void {
  const { startedAtMs, entries } = kept;
  onEvent({ kind: 'opened', keptPages: entries.length, startedAtMs });
  if (entries.length > 0 && clock.now() - startedAtMs > dayMs) {
    const since = new Date(startedAtMs).toISOString().slice(0, 16).replace('T', ' ');
    onEvent({
      kind: 'warning',
      message: `this list was begun at ${since} UTC: it promises the members from then on. Start over with --fresh for a newer one`,
    });
  }
  tellCeiling(walk, request, onEvent);
}

function tellCeiling(walk: Walk, { job }: ListIdsRequest, onEvent: ListContext['onEvent']): void {
  const { counts, mostEmpty: empty } = walk;
  const [total] = counts.totals;
  onEvent({ kind: 'ceiling', calls: mostListCalls(walk, overrunOf(job.budget.overrun)), empty, total });
}

async function requestPages(open: OpenList, given: ListContext): Promise<void> {
  const { request, walk, spent } = open;
  const { job, dialect, query } = request;
  const context = braked(given, job);
  const created = clientOf(job, context, {
    // A page costs what the dialect says, whatever the job says of calls for ids. Pages have a journal of their own.
    budget: { ...job.budget, creditsPerCall: dialect.list.creditsPerPage },
    sent: `${dialect.params} parameters of ${dialect.list[query.filter] ?? ''}, dialect ${dialect.name}`,
    onCall: () => spent.sent(),
    onFree: (attempt) => spent.returned(attempt),
  });
  let toldTotals = walk.counts.totals.length;
  const onAnswer = (): void => {
    const { totals } = walk.counts;
    if (totals.length > toldTotals && toldTotals === 0) tellCeiling(walk, request, context.onEvent);
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

/** Writes the list, or what there is of it. */
async function finish(open: OpenList, context: ListContext): Promise<ListOutcome> {
  const { request, kept, walk, members, spent } = open;
  const { files, clock } = context;
  const verdict = walk.verdict();
  const count = members.unique;
  const why = whyUnnamed(verdict, count, request.expect);
  const path = why === undefined ? request.out : `${request.out}${unprovenEnding}`;
  const madeAt = why === undefined ? pathIn(open.folder, basename(request.out)) : path;
  const written = count === 0 ? undefined : await writeList(files, madeAt, members);
  if (why === undefined) {
    await keepRecords(open, madeAt, context);
    await files.rename(madeAt, path);
    await files.syncFolder(dirname(path));
  }
  const account = listAccountOf({
    ...request,
    counts: walk.counts,
    verdict,
    unproven: why,
    members: count,
    origin: originOf(request, context),
    firstMs: kept.startedAtMs,
    lastMs: (spent.ofRun().callsOfRun === 0 ? kept.lastMs : undefined) ?? clock.now(),
    calls: spent.calls,
    credits: spent.credits,
    sha256: written?.sha256 ?? '',
    version: context.version,
  });
  // A list without members has its account alone: it is finished.
  if (written === undefined) await files.remove(path);
  await writeAccount(files, path, account);
  if (why === undefined) await removeUnproven(files, request.out);
  const { restCalls } = verdict;
  const error =
    why === undefined ? undefined : unnamed(why, path, { members: count, restCalls, expect: request.expect });
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

/** Why a list is not to have its name, as a clause; undefined where it is proven, and has as many members as were expected. */
function whyUnnamed({ proof, why }: ListVerdict, members: number, expect: number | undefined): string | undefined {
  if (members === 0) return 'no members';
  if (expect !== undefined && expect !== members) return `${count(members)} members, and --expect is ${count(expect)}`;
  return proof === 'none' ? why : undefined;
}

/** The error of a list without its name. @param path where what was found of it is */
function unnamed(
  why: string,
  path: string,
  {
    members,
    restCalls,
    expect,
  }: { readonly members: number; readonly restCalls: number | undefined; readonly expect: number | undefined },
): ExportError {
  if (members === 0)
    return new ExportError('notTolerated', 'no members: the service lists none', {
      todo: 'Check the address and the filter: a wallet has no members, and ids --owner lists what it owns. Burnt assets are never listed.',
    });
  if (expect !== undefined && expect !== members)
    return new ExportError('notTolerated', `${why}: the list is in ${path}`, {
      todo: 'Correct --expect, or start over with --fresh if the members changed.',
      facts: { members, expect },
    });
  const rest =
    restCalls === undefined
      ? ''
      : ` About ${plural(restCalls, 'more call')} would settle the rest: --proof-calls N allows them.`;
  return new ExportError('notTolerated', `not proven: ${why}. What was found is in ${path}`, {
    todo: `Answered pages are kept, and cost nothing again.${rest} If you know the number of members, give it with --expect N.`,
    facts: { members, restCalls: restCalls ?? null },
  });
}

/**
 * Looks at the places of a list and of its records before anything is paid for.
 * @throws {ExportError} `usage` for what could not take them at the end
 */
async function requireTargets({ out, records }: Pick<ListIdsRequest, 'out' | 'records'>, files: Reads): Promise<void> {
  const { format } = formOfName(out);
  if (format !== 'lines' && format !== 'csv')
    throw new ExportError('usage', `--out ${out} would be read as ${format}, and a list is lines of text`, {
      todo: 'Name a file that ends with .txt, .txt.gz or .txt.zst.',
    });
  if ((await files.sizeOf(out)) === 'folder')
    throw new ExportError('usage', `--out ${out} is a folder, and a list is a file`, {
      todo: `Name a file in it, for example ${join(out, 'mints.txt')}.`,
    });
  if (records !== undefined) await requireFolder(records, out, files);
}

async function requireFolder(records: string, out: string, files: Reads): Promise<void> {
  const pages = listFolder(out);
  const problem =
    records === out
      ? 'is --out'
      : records === pages || records.startsWith(pathIn(pages, ''))
        ? `is in ${pages}, where the pages are kept`
        : typeof (await files.sizeOf(records)) === 'number'
          ? 'is a file'
          : undefined;
  if (problem === undefined) return;
  throw new ExportError('usage', `--records ${records} ${problem}`, {
    todo: `Name a new folder for the records of ${basename(out)}.`,
  });
}

/**
 * A list that has asked for nothing yet makes its records in a new folder.
 * @throws {ExportError} `usage` when an export is there: it is known before anything is paid for
 */
async function requireNoExport(folder: string, files: Reads): Promise<void> {
  for (const name of [exportPaths.manifest, exportPaths.start])
    if ((await files.sizeOf(pathIn(folder, name))) !== undefined)
      throw new ExportError('usage', `an export is in ${folder} already`, {
        todo: 'Name another folder with --records, or start over with --fresh, which deletes it.',
      });
}
