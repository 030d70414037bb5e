import { type AssetClasses, assetClasses } from './base/asset-classes.ts';
import { maxAgeOf } from './base/ages.ts';
import { AskedAnswers } from './base/asked-answers.ts';
import { writeAskedIds } from './base/asked-list.ts';
import { BaseRows } from './base/base-rows.ts';
import { type BaseKeys, marks } from './base/base-keys.ts';
import { type Choice, chooseIds } from './base/choose-ids.ts';
import type { OpenBase } from './base/open-base.ts';
import { readBaseKeys } from './base/read-base-keys.ts';
import { AnswersFromDisk, type DiskSources } from './base/answers-from-disk.ts';
import type { FinishedExport } from '../../exports/finished-export.ts';
import { batchIds, batchShape } from '../../core/ids/batch-ids.ts';
import type { Entries } from '../../core/ids/entries.ts';
import { HashSet128, wordsPerHash } from '../../lib/hash/hash-set-128.ts';
import type { Job } from '../../core/job/job-schema.ts';
import { compareWithBase } from './common-ids.ts';
import { compareAssets } from '../../core/records/asset-changes.ts';
import { assetsTable, changesTable } from '../../core/records/columns.ts';
import type { RowBlock } from '../../core/records/row-block.ts';
import type { Begun } from '../../places/export/export-facts.ts';
import { exportPaths, pathIn } from '../../places/export/export-folder.ts';
import type { HomeContext } from '../../core/run/homes/open-home.ts';
import { changeBlock } from '../../core/work/change-rows.ts';
import type { LocalAnswers } from '../../core/work/make-parts.ts';
import { makesChildRows, tablesOf } from '../../core/work/tables-of.ts';
import { BitSet } from '../../lib/bit-set.ts';
import { recordPieces } from './base/record-pieces.ts';
import { recordRowsOf, wholeRows } from '../../exports/row-batch.ts';

/** Records that become rows at once. */
const recordsAtOnce = 500;

/** The rows of the base whose ids are not among the ids. */
function unlistedRows(keys: BaseKeys): { readonly rows: BitSet; readonly count: number } {
  const rows = new BitSet(keys.rows);
  let count = 0;
  for (const slot of keys.slots()) {
    if (keys.fate(slot) !== 'row' || keys.has(slot, marks.listed)) continue;
    rows.add(keys.row(slot));
    count += 1;
  }
  return { rows, count };
}

/** The records of these rows, in the order of the base, as whole rows of `assets`. */
async function* unlistedRecords(
  finished: FinishedExport,
  { rows, count }: ReturnType<typeof unlistedRows>,
): AsyncGenerator<RowBlock, void, void> {
  if (count === 0) return;
  let row = 0;
  const waiting: Buffer[] = [];
  const block = (): RowBlock => wholeRows(recordRowsOf(waiting.splice(0)));
  for await (const piece of recordPieces(finished)) {
    for (let index = 0; index < piece.count; index += 1, row += 1) {
      if (!rows.has(row)) continue;
      if (waiting.push(piece.at(index)) >= recordsAtOnce) yield block();
    }
  }
  if (waiting.length > 0) yield block();
}

/** Finds repeated ids while they are read: those of the base in its own table, all others in a set. */
class ListedIds {
  readonly #keys: BaseKeys;
  readonly #others = new HashSet128();

  /** Begins anew: no id of the base is listed yet. */
  constructor(keys: BaseKeys) {
    this.#keys = keys;
    keys.clear(marks.listed);
  }

  /** Ids that the base does not know. */
  get newIds(): number {
    return this.#others.size;
  }

  /** For each hash 1 when it comes for the first time, else 0. */
  addAll(hashes: Uint32Array): Uint8Array {
    const isNew = new Uint8Array(hashes.length / wordsPerHash);
    this.#keys.table.readAhead(hashes);
    for (let index = 0; index < isNew.length; index += 1) {
      const at = index * wordsPerHash;
      const slot = this.#keys.table.find(hashes, at);
      if (slot < 0) isNew[index] = this.#others.addAll(hashes.subarray(at, at + wordsPerHash))[0] ?? 0;
      else if (!this.#keys.has(slot, marks.listed)) {
        isNew[index] = 1;
        this.#keys.mark(slot, marks.listed);
      }
    }
    return isNew;
  }
}

export interface RefreshRequest extends Pick<HomeContext, 'files'> {
  readonly job: Job;
  readonly base: OpenBase;
  /** Folder of the export. */
  readonly folder: string;
  readonly begun: Begun;
  /** Reads all ids, with repeated ones marked by what it is given. */
  readonly entries: (seen: Pick<HashSet128, 'addAll'>) => AsyncIterable<Entries>;
  /** Parts that earlier runs committed: their rows are not read again. */
  readonly committed: ReadonlySet<number>;
  /** Requests the ids of a file in the export, with all that an export promises. */
  readonly request: (idsFile: string, missingShare: number) => Promise<FinishedExport>;
  readonly onWarning: (message: string) => void;
  /** Told what is requested, before the first request of an export. */
  readonly onChosen?: (choice: Choice) => Promise<void>;
}

/** What is requested of an export with a base, and what is taken from it. */
export interface RefreshPlan {
  readonly keys: BaseKeys;
  readonly classes: AssetClasses;
  readonly choice: Choice;
}

/** An export with a base, all of whose answers are on the disk. */
export interface OpenRefresh extends RefreshPlan {
  readonly local: LocalAnswers;
  /** All ids in their order, with repeated ones marked. */
  readonly seen: () => Pick<HashSet128, 'addAll'>;
  close(): Promise<void>;
}

/**
 * Reads the ids of the base and chooses those that are requested. A pure function of base, ids, job and start.
 * @throws {ExportError} `input` when ids and base have none in common
 */
export async function planRefresh({
  job,
  base,
  startedAtMs,
  entries,
  onWarning,
}: Pick<RefreshRequest, 'job' | 'base' | 'entries' | 'onWarning'> & Pick<Begun, 'startedAtMs'>): Promise<RefreshPlan> {
  const classes = assetClasses(job.base);
  const keys = await readBaseKeys({ base, classes, startedAtMs, onWarning });
  const listed = new ListedIds(keys);
  const all = entries(listed)[Symbol.asyncIterator]();
  while ((await all.next()).done !== true);
  const { idsPerCall } = job.service;
  const { creditsPerCall } = job.budget;
  const options = { base: job.base, classes, startedAtMs, idsPerCall, creditsPerCall, newIds: listed.newIds };
  const chosen = chooseIds(keys, options);
  // A part of a list may be exported.
  const choice = isOfList(base) ? { ...chosen, unlisted: 0 } : chosen;
  for (const warning of compareWithBase({ job, base, keys, choice })) onWarning(warning);
  return { keys, classes, choice };
}

/** A base that keeps the records of a list is no night: nothing is compared with it. */
function isOfList({ finished }: Pick<OpenBase, 'finished'>): boolean {
  return finished.manifest.kind === 'list';
}

/** Plans an export with a base, and requests what has to be requested. @throws {ExportError} as an export does */
export async function openRefresh(request: RefreshRequest): Promise<OpenRefresh> {
  const { files, folder, entries, committed } = request;
  const plan = await planRefresh({ ...request, startedAtMs: request.begun.startedAtMs });
  const { keys, choice } = plan;
  if (committed.size === 0) await request.onChosen?.(choice);
  let asked: FinishedExport | undefined;
  if (choice.total > 0) {
    const path = pathIn(folder, exportPaths.askedIds);
    await writeAskedIds({ files, path }, keys, { entries: entries(new ListedIds(keys)), newIds: choice.asked.new });
    asked = await request.request(path, choice.asked.missing / choice.total);
  }
  const answers = await AskedAnswers.open(asked);
  const isNeeded = committed.size === 0 ? undefined : (part: number) => !committed.has(part);
  const made = await openBasedParts(request, plan, { answers, isNeeded });
  return {
    ...plan,
    local: made.local,
    seen: () => new ListedIds(keys),
    close: async () => {
      await answers.close();
      await made.close();
    },
  };
}

/**
 * Opens the records of the base for parts that are made of them and of these answers. Call `close` when they are made.
 * @param isNeeded the records of other parts are not read; absent: all parts are made
 */
async function openBasedParts(
  request: RefreshRequest,
  { keys, classes }: Pick<RefreshPlan, 'keys' | 'classes'>,
  { answers, isNeeded }: Pick<DiskSources, 'answers'> & { readonly isNeeded?: ((part: number) => boolean) | undefined },
): Promise<{ readonly local: LocalAnswers; close(): Promise<void> }> {
  const { job, base, files, folder, begun } = request;
  const unlisted = unlistedRows(keys);
  const spillPath = pathIn(folder, exportPaths.baseRows);
  const rows = new BaseRows(base.finished, keys, { files, spillPath });
  const asker = new AnswersFromDisk({
    keys,
    rows,
    answers,
    startedAtMs: begun.startedAtMs,
    classes: classes.all.length,
    hasLists: makesChildRows(tablesOf(job, begun)),
    missingAfter: maxAgeOf(job.base.missingAfter),
    compare: compareAssets(assetsTable.columns, job.base.ignore),
  });
  if (isNeeded !== undefined) await skipOthers(request, keys, { asker, isNeeded });
  const isList = isOfList(base);
  const hasChanges = job.output.tables.includes(changesTable.name) && !isList;
  return {
    local: {
      client: asker,
      originsOf: (ids) => {
        const origins = asker.originsOf(ids);
        return isList && origins !== undefined ? { ...origins, changes: [] } : origins;
      },
      tail: () => (hasChanges ? unlistedChanges(job, unlistedRecords(base.finished, unlisted), begun) : nothing()),
    },
    close: () => rows.close(),
  };
}

/** Tells which rows of the base are in parts that are not made. */
async function skipOthers(
  { job, entries }: Pick<RefreshRequest, 'job' | 'entries'>,
  keys: BaseKeys,
  { asker, isNeeded }: { readonly asker: AnswersFromDisk; readonly isNeeded: (part: number) => boolean },
): Promise<void> {
  for await (const { part, ids, entries: read } of batchIds(entries(new ListedIds(keys)), batchShape(job))) {
    if (!isNeeded(part)) asker.skip(ids);
    read.release();
  }
}

async function* nothing(): AsyncGenerator<RowBlock, void, void> {
  // No rows.
}

async function* unlistedChanges(
  job: Job,
  records: AsyncIterable<RowBlock>,
  begun: Begun,
): AsyncGenerator<RowBlock, void, void> {
  const shaped = tablesOf(job, begun);
  const assets = shaped.find(({ whole }) => whole.name === 'assets');
  const changes = shaped.find(({ whole }) => whole === changesTable);
  if (assets === undefined || changes === undefined) return;
  for await (const whole of records) {
    const block = assets.pick(whole);
    const rows = Array.from({ length: block.rows }, (_, row) => {
      return { op: 'delete', reason: 'unlisted', columns: [], before: { block, row } } as const;
    });
    const made = changeBlock(rows, { assets, changes }, begun.startedAtMs * 1000);
    if (made !== undefined) yield made;
  }
}
