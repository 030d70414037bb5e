import { childRows, flattenAsset } from '../flatten-asset.ts';
import { assetsTable } from '../columns.ts';
import type { Drift } from '../drift.ts';
import type { IdList } from '../../ids/id-list.ts';
import type { JsonObject } from '../../../lib/json/json.ts';
import { type RowBlock, RowBlockBuilder } from '../row-block.ts';
import type { Table } from '../table.ts';
import { utf8Text, MadeText } from '../texts.ts';
import { bound, RecordBounds, childConstants, dropImage, KernelScan, type RecordTarget } from './kernel-scan.ts';
import { assetPlaces, childTables, type RecordPlan, recordPlan } from './record-plan.ts';
import { carriageReturn, lineFeed } from '../../../lib/ascii.ts';

/** For callers that need no child tables. */
const plainPlan = recordPlan([]);

/** Fewer than most records have: room for their rows is made at once. */
const usualBytes = 1200;

/** More rows than any service sends: memory for more is neither made before they come, nor kept. */
const mostSpareRows = 4096;

/** The records of one answer as rows, made while its JSON is read; and where in its bytes each record lies. */
export class RecordRows {
  /** The answer's bytes: UTF-8. */
  readonly source: Uint8Array;
  readonly #plan: RecordPlan;
  readonly #target: RecordTarget;
  readonly #bounds: RecordBounds;
  readonly #scan: KernelScan;

  constructor(source: Uint8Array, plan: RecordPlan = plainPlan) {
    this.source = source;
    this.#plan = plan;
    const rows = Math.min(Math.ceil(source.length / usualBytes), mostSpareRows);
    this.#target = sparesOf(plan).pop() ?? newTarget(rows, plan);
    this.#bounds = this.#target.bounds;
    this.#scan = new KernelScan(source, plan, this.#target);
  }

  /** Records so far. */
  get count(): number {
    return this.#bounds.count;
  }

  /**
   * Adds the record that begins at `at`, and those behind it with commas between, up to `most`: as many as nothing is unusual about.
   * @returns where the last ends; -1, and nothing is added, when `add` has to be used for the first
   */
  read(at: number, most = 1): number {
    return this.#scan.read(at, most);
  }

  /** Adds a record by its value, which lies in the bytes from `start` up to `end`. */
  add(value: JsonObject, start: number, end: number): void {
    const { assets, children, drifts } = this.#target;
    const flat = flattenAsset(value);
    assets.addCells(assetsTable.columns, flat.row);
    // Not spread: a record may hold more unknown members than a call takes arguments.
    for (const drift of flat.drift) drifts.push({ table: -1, drift });
    for (const table of this.#plan.children) {
      const index = childTables.indexOf(table);
      const found: Drift[] = [];
      for (const row of childRows(table, value, found)) children[index]?.addCells(table.columns, row);
      for (const drift of found) drifts.push({ table: index, drift });
    }
    this.#close(start, end, true);
    if (this.#plan.root.learn(value)) dropImage(this.#plan);
  }

  /** Has records from `first` up to `end` make these rows of `assets`, whose texts lie in the answer, in place of their own. */
  setCells(first: number, end: number, { from, length, marks }: Pick<RowBlock, 'from' | 'length' | 'marks'>): void {
    const { assets } = this.#target;
    const [start, stop] = [first * assets.width, end * assets.width];
    assets.from.set(from.subarray(start, stop), start);
    assets.length.set(length.subarray(start, stop), start);
    assets.marks.set(marks.subarray(start, stop), start);
  }

  id(record: number): string {
    const { assets } = this.#target;
    return assets.textAt(record * assets.width + assetPlaces.id, this.source);
  }

  /** Whether the record has the id at this place of the list: usually decided without making a string of its bytes. */
  hasId(record: number, ids: IdList, place: number): boolean {
    const { assets } = this.#target;
    const cell = record * assets.width + assetPlaces.id;
    const start = assets.from[cell] ?? 0;
    if (start < 0) return place < ids.length && ids.at(place) === this.id(record);
    return ids.isAt(place, this.source, start, assets.length[cell] ?? -1);
  }

  /** The record as it came. */
  text(record: number): string {
    return utf8Text(this.source, this.#bounds.of(record, bound.start), this.#bounds.of(record, bound.end));
  }

  /** Tells how the record, and the elements of the lists that are child tables, differ from the specification. */
  eachDrift(record: number, take: (drift: Drift) => void): void {
    const first = this.#bounds.of(record - 1, bound.driftEnd);
    const end = this.#bounds.of(record, bound.driftEnd);
    if (first === end) return;
    const { drifts } = this.#target;
    for (const wanted of [-1, ...this.#plan.children.map((table) => childTables.indexOf(table))]) {
      for (let index = first; index < end; index += 1) {
        const found = drifts[index];
        if (found?.table === wanted) take(found.drift);
      }
    }
  }

  /** The rows of `assets`, or of a child table, that records make, in that order of records. */
  rows(table: Table, records: readonly number[]): RowBlock {
    const index = childTables.indexOf(table);
    const builder = index < 0 ? this.#target.assets : this.#target.children[index];
    if (builder === undefined) throw new Error(`no rows of ${table.name}`);
    const end = (record: number): number => {
      return index < 0 ? record + 1 : this.#bounds.of(record, bound.childEnd(index));
    };
    const first = (record: number): number => end(record - 1);
    const inOrder = records.every((record, at) => at === 0 || record === (records[at - 1] ?? 0) + 1);
    if (inOrder) return builder.block(this.source, first(records[0] ?? 0), end(records.at(-1) ?? -1));
    return builder.picked(
      this.source,
      records.map((record) => [first(record), end(record)]),
    );
  }

  /** The records' bytes as rows of one json cell, each on one line. */
  rawRows(records: readonly number[]): RowBlock {
    const raw = new RowBlockBuilder(1, Math.max(1, records.length));
    for (const record of records) {
      const start = this.#bounds.of(record, bound.start);
      const end = this.#bounds.of(record, bound.end);
      const cell = raw.addRow();
      if (this.#bounds.of(record, bound.mayHoldBlanks) === 1 && hasLineBreak(this.source, start, end))
        raw.setText(cell, rawLine(this.text(record)), false);
      else raw.setSpan(cell, start, end - start);
    }
    return raw.block(this.source);
  }

  /** Gives the memory of the rows back: from then on nothing here may be read. */
  release(): void {
    this.#scan.release();
    const { assets, children, drifts } = this.#target;
    if (assets.rows > mostSpareRows) return;
    for (const rows of [assets, ...children]) rows.cutTo(0);
    drifts.length = 0;
    this.#bounds.count = 0;
    sparesOf(this.#plan).push(this.#target);
  }

  #close(start: number, end: number, mayHoldBlanks: boolean): void {
    const { children, drifts } = this.#target;
    const numbers = [start, end, mayHoldBlanks ? 1 : 0, drifts.length, ...children.map(({ rows }) => rows)];
    this.#bounds.add(Int32Array.from(numbers));
  }
}

/** Memory of answers whose rows are written, for others. */
const spares = new WeakMap<RecordPlan, RecordTarget[]>();

function sparesOf(plan: RecordPlan): RecordTarget[] {
  const known = spares.get(plan) ?? [];
  spares.set(plan, known);
  return known;
}

function newTarget(rows: number, { children }: RecordPlan): RecordTarget {
  const made = new MadeText(childConstants);
  return {
    assets: new RowBlockBuilder(assetsTable.columns.length, rows, made),
    children: childTables.map((table) => {
      return new RowBlockBuilder(table.columns.length, children.includes(table) ? rows * 2 : 0, made);
    }),
    made,
    drifts: [],
    bounds: new RecordBounds(childTables.length, rows),
  };
}

function hasLineBreak(bytes: Uint8Array, start: number, end: number): boolean {
  const record = bytes.subarray(start, end);
  return record.includes(lineFeed) || record.includes(carriageReturn);
}

/**
 * The text of a record on one line. Line breaks stand only between tokens (inside a string they are escapes), where
 * nothing may be joined by taking them out.
 */
export function rawLine(text: string): string {
  return text.includes('\n') || text.includes('\r') ? text.replaceAll(/[\n\r]+/g, '') : text;
}
