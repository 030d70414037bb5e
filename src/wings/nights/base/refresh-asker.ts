import type {
  AssetAnswer,
  AssetCall,
  AssetClient,
  OpenReader,
  RecordError,
} from '../../../core/client/asset-client.ts';
import type { IdList } from '../../../core/ids/id-list.ts';
import { blockPair, type RowComparison } from '../../../core/records/asset-changes.ts';
import { assetsTable } from '../../../core/records/columns.ts';
import { isJsonObject, parseJson } from '../../../lib/json/json.ts';
import type { RowBlock } from '../../../core/records/row-block.ts';
import { RecordRows } from '../../../core/records/scan/record-rows.ts';
import type { MaxAge } from './ages.ts';
import type { AskedRefusal } from './asked-answers.ts';
import { type BaseKeys, marks } from './base-keys.ts';
import type { BaseRows } from './base-rows.ts';
import type { AssetChange, BatchOrigins } from '../../../core/work/batch-origins.ts';
import { missingText } from './read-base-keys.ts';
import { comma, lineFeed, openBracket, quote } from '../../../lib/ascii.ts';

export interface RefreshSources {
  readonly keys: BaseKeys;
  readonly rows: Pick<BaseRows, 'areLines' | 'take' | 'recordsOf' | 'skip'>;
  readonly answers: Answers;
  /** How many classes there are. */
  readonly classes: number;
  readonly missingAfter: MaxAge;
  /** Compares whole rows of `assets`. */
  readonly compare: RowComparison;
  /** When this export began. */
  readonly startedAtMs: number;
  /** The base is gone: no key is known, and a requested record may or may not differ from it. */
  readonly isBaseGone?: boolean;
}

/** What became of ids that were requested. */
export interface Answers {
  /** The record of an id, why it has none, or undefined for an id that was not requested. @param part that the id belongs to */
  find(id: string, part: number): Promise<Buffer | AskedRefusal | undefined>;
}

/** Answers from what was requested before, and from the base: nothing is sent. */
export class RefreshAsker implements AssetClient {
  readonly #sources: RefreshSources;
  readonly #origins = new WeakMap<IdList, BatchOrigins>();
  /** Answers are made one after another: the base is read in its order. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor(sources: RefreshSources) {
    this.#sources = sources;
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

  async #answer({ ids, reader, part }: AssetCall): Promise<AssetAnswer> {
    const { keys, startedAtMs, rows } = this.#sources;
    const found: FoundId[] = [];
    const errors: RecordError[] = [];
    let place = 0;
    for (const id of ids) {
      const known = { id, place, slot: keys.slotOf(id) };
      const carried = this.#carried(known);
      // Waiting for what is there takes longer than all else that is done for a row.
      const one = carried instanceof Promise ? await carried : (carried ?? (await this.#find(known, part)));
      found.push(one);
      if (one.record === undefined) errors.push({ id, notFound: one.isMissing, message: one.reason });
      place += 1;
    }
    const withRecord = found.filter(({ record }) => record !== undefined);
    const withOld = found.filter(({ old }) => old !== undefined);
    const carried = Uint8Array.from(withRecord, ({ fetchedAtMs }) => (fetchedAtMs === undefined ? 0 : 1));
    const isLine = (index: number): boolean => rows.areLines && carried[index] === 1;
    const answer = answerBytes(
      withRecord.map(({ record }) => record ?? empty),
      isLine,
    );
    const { body } = answer;
    const records = reader?.(body);
    if (!(records instanceof RecordRows)) throw new Error('a part is made of rows');
    readAll(records, answer, isLine);
    const oldRows = recordRowsOf(await rows.recordsOf(withOld.map(({ old }) => old ?? empty)));
    this.#origins.set(ids, {
      fetchedAtUs: Float64Array.from(withRecord, ({ fetchedAtMs }) => (fetchedAtMs ?? startedAtMs) * 1000),
      carried,
      copies: rows.areLines,
      now: records,
      before: oldRows,
      ...this.#compared(found, records, oldRows),
    });
    return { kind: 'records', body, records, errors, idless: 0, hasUnmatched: false, otherResponseId: false };
  }

  /** A row of the base that is carried over: without a promise where it is in memory. */
  #carried(known: KnownId): FoundId | Promise<FoundId> | undefined {
    const { keys, rows } = this.#sources;
    const { slot } = known;
    if (slot < 0 || keys.fate(slot) !== 'row' || keys.has(slot, marks.asked)) return undefined;
    const carried = { ...known, fetchedAtMs: keys.timeMs(slot), ...noReason };
    const record = rows.take(keys.row(slot));
    return record instanceof Promise ? record.then((late) => ({ ...carried, record: late })) : { ...carried, record };
  }

  async #find(known: KnownId, part: number): Promise<FoundId> {
    const { keys, rows, answers, missingAfter } = this.#sources;
    const { id, slot } = known;
    const isRow = slot >= 0 && keys.fate(slot) === 'row';
    if (slot >= 0 && !keys.has(slot, marks.asked)) {
      return { ...known, isMissing: true, reason: missingText(keys.timeMs(slot), missingAfter) };
    }
    const old = isRow ? await rows.take(keys.row(slot)) : undefined;
    const answer = await answers.find(id, part);
    const asked = { ...known, ...(old === undefined ? {} : { old }) };
    if (Buffer.isBuffer(answer)) return { ...asked, record: answer, ...noReason };
    const { kind, reason } = answer ?? { kind: 'failed', reason: 'no answer was kept' };
    return { ...asked, isMissing: kind === 'missing', reason };
  }

  /** Compares what was requested with what the base holds. */
  #compared(
    found: readonly FoundId[],
    records: RecordRows,
    oldRows: RecordRows,
  ): Pick<BatchOrigins, 'changes' | 'counts'> {
    const { keys, classes, compare, isBaseGone = false } = this.#sources;
    const counts = { asked: zeros(classes), changed: zeros(classes), lost: 0, sample: [0, 0], tied: [0, 0] };
    const changes: AssetChange[] = [];
    const now = wholeRows(records);
    const before = wholeRows(oldRows);
    let record = -1;
    let old = -1;
    for (const each of found) {
      const hasRecord = each.record !== undefined;
      const hasOld = each.old !== undefined;
      if (hasRecord) record += 1;
      if (hasOld) old += 1;
      if (each.fetchedAtMs !== undefined) continue;
      const { id, place, slot, isMissing } = each;
      const sides = { place, record: hasRecord ? record : -1, old: hasOld ? old : -1 };
      let change: AssetChange | undefined;
      if (hasRecord && hasOld) {
        const columns = compare(blockPair({ block: before, row: old }, { block: now, row: record }));
        if (columns.length > 0) change = { op: 'update', ...sides, columns };
      } else if (hasRecord) change = { op: isBaseGone ? 'update' : 'insert', ...sides, columns: [] };
      else if (hasOld || isBaseGone)
        change = { op: 'delete', reason: isMissing ? 'missing' : 'failed', ...sides, columns: [], id };
      if (change !== undefined) changes.push(change);
      if (!hasOld) continue;
      const isChanged = change === undefined ? 0 : 1;
      const assetClass = keys.assetClass(slot);
      bump(counts.asked, assetClass, 1);
      bump(counts.changed, assetClass, isChanged);
      if (!hasRecord && isMissing) counts.lost += 1;
      for (const [mark, pair] of [
        [marks.sampled, counts.sample],
        [marks.tied, counts.tied],
      ] as const) {
        if (!keys.has(slot, mark)) continue;
        bump(pair, 0, 1);
        bump(pair, 1, isChanged);
      }
    }
    const [sampled = 0, sampledChanged = 0] = counts.sample;
    const [tied = 0, tiedChanged = 0] = counts.tied;
    return { changes, counts: { ...counts, sample: [sampled, sampledChanged], tied: [tied, tiedChanged] } };
  }
}

/** An id of a batch. */
interface KnownId {
  readonly id: string;
  readonly place: number;
  /** In the keys of the base; -1 for a new id. */
  readonly slot: number;
}

/** What became of it. */
interface FoundId extends KnownId {
  readonly record?: Buffer;
  /** Its record in the base, or its line, where it was requested again. */
  readonly old?: Buffer;
  /** Of a record that is carried over. */
  readonly fetchedAtMs?: number;
  readonly isMissing: boolean;
  readonly reason: string;
}

const empty = Buffer.alloc(0);

/** What a line of `assets` begins with. */
const idKey = '{"id":"';
const noReason = { isMissing: false, reason: '' };

function zeros(length: number): number[] {
  return Array.from({ length }, () => 0);
}

function bump(numbers: number[], at: number, by: number): void {
  numbers[at] = (numbers[at] ?? 0) + by;
}

interface AnswerBytes {
  readonly body: Buffer;
  /** Where each record begins; a byte is between it and the next one. */
  readonly starts: readonly number[];
}

/** Records as the array of an answer. Lines of JSONL among them keep their ends: the array is not read as a whole. */
function answerBytes(records: readonly Buffer[], isLine: (index: number) => boolean): AnswerBytes {
  const body = Buffer.allocUnsafeSlow(records.reduce((sum, { length }) => sum + length + 1, 1));
  const starts: number[] = [];
  let at = 0;
  body[at++] = openBracket;
  for (const [index, record] of records.entries()) {
    starts.push(at);
    at += record.copy(body, at);
    body[at++] = isLine(index) ? lineFeed : comma;
  }
  return { body, starts };
}

/** Records as rows. */
export function recordRowsOf(
  records: readonly Buffer[],
  open: OpenReader<RecordRows> = (body) => new RecordRows(body),
): RecordRows {
  const none = () => false;
  const answer = answerBytes(records, none);
  const rows = open(answer.body);
  readAll(rows, answer, none);
  return rows;
}

function readAll(rows: RecordRows, { body, starts }: AnswerBytes, isLine: (index: number) => boolean): void {
  for (let index = 0; index < starts.length; ) {
    const start = starts[index] ?? 0;
    const end = (starts[index + 1] ?? body.length) - 1;
    if (isLine(index)) {
      const id = start + idKey.length;
      rows.addLine(start, end + 1, { start: id, length: body.indexOf(quote, id) - id });
      index += 1;
      continue;
    }
    const before = rows.count;
    if (rows.read(start, starts.length) < 0) {
      const value = parseJson(body.toString('utf8', start, end));
      if (isJsonObject(value)) rows.add(value, start, end);
      index += 1;
    } else index += rows.count - before;
  }
}

/** All records as whole rows of `assets`. */
export function wholeRows(rows: RecordRows): RowBlock {
  return rows.rows(
    assetsTable,
    Array.from({ length: rows.count }, (_, index) => index),
  );
}
