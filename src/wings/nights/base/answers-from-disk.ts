import type { AssetAnswer, AssetCall, AssetClient, RecordError } from '../../../core/client/asset-client.ts';
import type { IdList } from '../../../core/ids/id-list.ts';
import { blockPair, type RowComparison } from '../../../core/records/asset-changes.ts';
import { RecordRows } from '../../../core/records/scan/record-rows.ts';
import type { MaxAge } from './ages.ts';
import type { AskedAnswers } from './asked-answers.ts';
import { type BaseKeys, marks } from './base-keys.ts';
import type { BaseRows } from './base-rows.ts';
import type { AssetChange, BatchOrigins } from '../../../core/work/batch-origins.ts';
import { missingText } from './read-base-keys.ts';
import { RowBatch, wholeRows } from '../../../exports/row-batch.ts';

export interface DiskSources {
  readonly keys: BaseKeys;
  readonly rows: Pick<BaseRows, 'take' | 'skip'>;
  /** What became of the ids that were requested. */
  readonly answers: Pick<AskedAnswers, 'find'>;
  /** How many classes there are. */
  readonly classes: number;
  /** Whether rows of child tables are made. */
  readonly hasLists: boolean;
  readonly missingAfter: MaxAge;
  /** Compares whole rows of `assets`. */
  readonly compare: RowComparison;
  /** When this export began. */
  readonly startedAtMs: number;
}

/** Answers from what was requested before, and from the base: nothing is sent. */
export class AnswersFromDisk implements AssetClient {
  readonly #sources: DiskSources;
  readonly #origins = new WeakMap<IdList, BatchOrigins>();
  /** Answers are made one after another: the base is read in its order. */
  #turn: Promise<unknown> = Promise.resolve();

  /** The rows of the answer in the making, and those of the base that are compared with them. */
  readonly #now: RowBatch;
  readonly #before = new RowBatch(false);

  constructor(sources: DiskSources) {
    this.#sources = sources;
    this.#now = new RowBatch(sources.hasLists);
  }

  /** Where the records come from with which these ids were answered. */
  originsOf(ids: IdList): BatchOrigins | undefined {
    return this.#origins.get(ids);
  }

  ask(call: AssetCall): Promise<AssetAnswer> {
    const answer = this.#turn.then(() => this.#answer(call));
    this.#turn = answer.catch(() => undefined);
    return answer;
  }

  /** Says that these ids are not needed: their part is made. */
  skip(ids: IdList): void {
    const { keys, rows } = this.#sources;
    for (const id of ids) {
      const slot = keys.slotOf(id);
      if (slot >= 0 && keys.fate(slot) === 'row') rows.skip(keys.row(slot));
    }
  }

  async #answer({ ids, reader }: AssetCall): Promise<AssetAnswer> {
    const { keys, startedAtMs, rows } = this.#sources;
    const now = this.#now;
    const before = this.#before;
    const fetchedAtUs = new Float64Array(ids.length).fill(startedAtMs * 1000);
    const carried = new Uint8Array(ids.length);
    const asked: AskedId[] = [];
    const errors: RecordError[] = [];
    for (let place = 0; place < ids.length; place += 1) {
      const slot = keys.slotAt(ids, place);
      if (slot >= 0 && keys.fate(slot) === 'row' && !keys.has(slot, marks.asked)) {
        fetchedAtUs[now.count] = keys.timeMs(slot) * 1000;
        carried[now.count] = 1;
        const later = rows.take(keys.row(slot), now);
        // Waiting for what is there takes longer than all else that is done for a row.
        if (later !== undefined) await later;
        continue;
      }
      const one = await this.#find({ id: ids.at(place), place, slot });
      asked.push(one);
      if (one.record < 0) errors.push({ id: one.id, notFound: one.isMissing, message: one.reason });
    }
    const records = now.rows((body) => {
      const opened = reader?.(body);
      if (!(opened instanceof RecordRows)) throw new Error('a part is made of rows');
      return opened;
    });
    const oldRows = before.rows();
    const origins = { fetchedAtUs, carried, now: records, before: oldRows };
    this.#origins.set(ids, { ...origins, ...this.#compared(asked, records, oldRows) });
    const body = records.source;
    return { kind: 'records', body, records, errors, idless: 0, hasUnmatched: false, otherResponseId: false };
  }

  /** Adds the record of an id that is not carried over, if there is one, and that which the base has. */
  async #find(known: KnownId): Promise<AskedId> {
    const { keys, rows, answers, missingAfter } = this.#sources;
    const { id, slot } = known;
    const none = { ...known, record: -1, old: -1 };
    if (slot >= 0 && !keys.has(slot, marks.asked))
      return { ...none, isMissing: true, reason: missingText(keys.timeMs(slot), missingAfter) };
    const isRow = slot >= 0 && keys.fate(slot) === 'row';
    const old = isRow ? this.#before.count : -1;
    if (isRow) await rows.take(keys.row(slot), this.#before);
    const answer = await answers.find(id);
    if (Buffer.isBuffer(answer)) {
      this.#now.addRecord(answer);
      return { ...none, record: this.#now.count - 1, old, isMissing: false, reason: '' };
    }
    const { kind, reason } = answer ?? { kind: 'failed', reason: 'no answer was kept' };
    return { ...none, old, isMissing: kind === 'missing', reason };
  }

  /** Compares what was requested with what the base holds. */
  #compared(
    asked: readonly AskedId[],
    records: RecordRows,
    oldRows: RecordRows,
  ): Pick<BatchOrigins, 'changes' | 'counts'> {
    const { keys, classes, compare } = this.#sources;
    const counts = { asked: zeros(classes), changed: zeros(classes), lost: 0 };
    const changes: AssetChange[] = [];
    const now = wholeRows(records);
    const before = wholeRows(oldRows);
    for (const { place, slot, record, old, isMissing } of asked) {
      const hasRecord = record >= 0;
      const hasOld = old >= 0;
      const sides = { place, record, old };
      let change: AssetChange | undefined;
      if (hasRecord && hasOld) {
        const columns = compare(blockPair({ block: before, row: old }, { block: now, row: record }));
        if (columns.length > 0) change = { op: 'update', ...sides, columns };
      } else if (hasRecord) change = { op: 'insert', ...sides, columns: [] };
      else if (hasOld) change = { op: 'delete', reason: isMissing ? 'missing' : 'failed', ...sides, columns: [] };
      if (change !== undefined) changes.push(change);
      if (!hasOld) continue;
      const assetClass = keys.assetClass(slot);
      bump(counts.asked, assetClass, 1);
      bump(counts.changed, assetClass, change === undefined ? 0 : 1);
      if (!hasRecord && isMissing) counts.lost += 1;
    }
    return { changes, counts };
  }
}

/** An id of a batch. */
interface KnownId {
  readonly id: string;
  readonly place: number;
  /** In the keys of the base; -1 for a new id. */
  readonly slot: number;
}

/** What became of an id that is not carried over. */
interface AskedId extends KnownId {
  /** The places of its record in the batch, and in that of the base; -1 where there is none. */
  readonly record: number;
  readonly old: number;
  readonly isMissing: boolean;
  readonly reason: string;
}

function zeros(length: number): number[] {
  return Array.from({ length }, () => 0);
}

function bump(numbers: number[], at: number, by: number): void {
  numbers[at] = (numbers[at] ?? 0) + by;
}
