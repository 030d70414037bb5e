import { collectionsTable } from '../columns.ts';
import type { Drift } from '../drift.ts';
import type { RowBlockBuilder } from '../row-block.ts';
import { positionAt, traitTypes } from './constants.ts';
import { CellScanner, jsonMarks } from './cell-scanner.ts';
import { ExtraText } from './extra-text.ts';
import { isDigit, JsonScanner } from '../../../lib/scan/json-scanner.ts';
import {
  assetPlaces,
  type Follow,
  type ListPlan,
  type Member,
  type ObjectPlan,
  type RecordTarget,
} from './record-plan.ts';
import { closeBrace, closeBracket, colon, comma, lowerN, openBrace, openBracket } from '../../../lib/ascii.ts';

/** The row that an object fills. */
interface OpenRow {
  readonly rows: RowBlockBuilder;
  readonly extra: ExtraText;
  readonly drifts: Drift[];
  /** The number of its first cell. */
  base: number;
  /** The first row that this record makes. */
  first: number;
}

const collection = Buffer.from(collectionsTable.where?.value ?? '');
const errorName = Buffer.from('"error":');

/** More rows of a child table than an answer fills that says anything: an empty element, of three bytes, makes one of sixty. */
const mostListRows = 2_000_000;

/** What came of an object: refused, or whether any of its members is in a column. */
const refused = -1;
const tookNothing = 0;
const tookSome = 1;

/**
 * Makes rows of a record straight from its bytes, without its value in between: the same rows as `flattenAsset` and
 * `childRows` make of the parsed record (test/core/records/scan holds it to that). Whatever is unusual it refuses, and the
 * record is read that long way.
 */
export class RecordScanner {
  readonly #root: ObjectPlan;
  readonly #json: JsonScanner;
  readonly #cells: CellScanner;
  readonly #row: OpenRow;
  readonly #elements: readonly OpenRow[];
  #hasCollection = false;

  constructor(source: Uint8Array, root: ObjectPlan, { assets, children, drifts, childDrifts }: RecordTarget) {
    this.#root = root;
    this.#json = new JsonScanner(source);
    this.#cells = new CellScanner(this.#json);
    this.#row = { rows: assets, extra: new ExtraText(source), drifts, base: 0, first: 0 };
    // Lists do not nest: their elements share one text in the making.
    const extra = new ExtraText(source);
    this.#elements = children.map((rows, index) => ({
      rows,
      extra,
      drifts: childDrifts[index] ?? [],
      base: 0,
      first: 0,
    }));
  }

  /** Reads the record that begins at `at`. Gives where it ends; -1 when it is refused, and half its rows are made. */
  read(at: number): number {
    const row = this.#row;
    const json = this.#json;
    json.at = at;
    json.reprint = false;
    if (json.bytes[at] !== openBrace) return -1;
    for (const element of this.#elements) element.first = element.rows.rows;
    row.base = row.rows.addRow();
    row.extra.begin();
    this.#hasCollection = false;
    if (this.#object(this.#root, row) === refused) return -1;
    const id = row.base + assetPlaces.id;
    if ((row.rows.length[id] ?? -1) < 0) return -1;
    const extra = row.extra.finish();
    // Perhaps an error in place of a record.
    const isBare = (row.rows.length[row.base + assetPlaces.interface] ?? -1) < 0;
    if (isBare && extra !== undefined && Buffer.from(extra.buffer, extra.byteOffset, extra.length).includes(errorName))
      return -1;
    if (extra !== undefined) row.rows.setBytes(row.base + assetPlaces.extra, extra, jsonMarks);
    // The id may come behind a list.
    for (const element of this.#elements) this.#giveId(element);
    return json.at;
  }

  /** Whether the record that was read last may hold line breaks between its tokens; no string holds one. */
  get mayHoldBlanks(): boolean {
    return this.#json.reprint;
  }

  #giveId({ rows, first }: OpenRow): void {
    for (let row = first; row < rows.rows; row += 1) {
      rows.copyCell(row * rows.width, this.#row.rows, this.#row.base + assetPlaces.id);
    }
  }

  #object(plan: ObjectPlan, row: OpenRow): number {
    const json = this.#json;
    plan.objects += 1;
    const number = plan.objects;
    json.at += 1;
    if (json.next() === closeBrace) {
      json.at += 1;
      return tookNothing;
    }
    let outcome = tookNothing;
    let previous: Follow = plan;
    for (;;) {
      const member = this.#name(plan, previous);
      if (member === undefined || member.seen === number) return refused;
      member.seen = number;
      previous = member;
      const taken = this.#value(member, row);
      if (taken === refused) return refused;
      outcome |= taken;
      const byte = json.next();
      json.at += 1;
      if (byte === closeBrace) return outcome;
      if (byte !== comma) return refused;
      json.next();
    }
  }

  /** Takes a name and its colon; undefined for one that has to be read the long way. */
  #name(plan: ObjectPlan, previous: Follow): Member | undefined {
    const json = this.#json;
    const { next, other } = previous;
    json.separated = true;
    if (next?.words !== undefined && json.take(next.words)) return next;
    const isOther = other?.words !== undefined && json.take(other.words);
    const member = isOther ? other : (this.#nameByBytes(plan) ?? this.#nameByText(plan));
    if (member !== undefined) {
      previous.other = next;
      previous.next = member;
    }
    return member;
  }

  #nameByBytes({ compared }: ObjectPlan): Member | undefined {
    for (const member of compared) if (member.words !== undefined && this.#json.take(member.words)) return member;
    return undefined;
  }

  #nameByText(plan: ObjectPlan): Member | undefined {
    const json = this.#json;
    const start = json.at;
    if (!json.string() || json.escaped) return undefined;
    const name = this.#cells.text(start + 1, json.at - 1);
    if (json.next() !== colon) return undefined;
    json.at += 1;
    // JavaScript puts names like 7 before others, and so does what is printed of its objects.
    return plan.member(name) ?? (isDigit(json.bytes[start + 1] ?? 0) ? undefined : plan.learn(name));
  }

  #value(member: Member, row: OpenRow): number {
    const json = this.#json;
    const byte = json.next();
    const { rows } = row;
    const cell = row.base + member.column;
    if (byte === lowerN) {
      if (member.kind === 'trait') this.#cells.traitType(rows, cell, traitTypes.null);
      return json.literal() ? tookNothing : refused;
    }
    switch (member.kind) {
      case 'string':
        return this.#cells.string(member, row, cell) ? tookSome : refused;
      case 'boolean':
        return this.#cells.boolean(rows, cell) ? tookSome : refused;
      case 'int64':
      case 'decimal':
      case 'double':
        return this.#cells.number(member, rows, cell) ? tookSome : refused;
      case 'json':
        return this.#cells.jsonValue(rows, cell) ? tookSome : refused;
      case 'trait':
        return this.#cells.trait(rows, cell) ? tookSome : refused;
      case 'list':
        return byte === openBracket && member.list !== undefined && this.#list(member.list, rows, cell)
          ? tookSome
          : refused;
      case 'branch':
        return byte === openBrace && member.branch !== undefined ? this.#branch(member, member.branch, row) : refused;
      case 'implied':
        return json.string() ? tookSome : refused;
      case 'unknown':
        row.drifts.push(member.drift);
        return this.#cells.unknown(member, row.extra) ? tookNothing : refused;
    }
  }

  #list(list: ListPlan, rows: RowBlockBuilder, cell: number): boolean {
    const json = this.#json;
    const elements = this.#elements[list.index];
    if (elements === undefined) return false;
    const outer = this.#cells.beginText();
    const start = json.at;
    json.at += 1;
    for (let position = 0, byte = json.next(); byte !== closeBracket; position += 1) {
      if (byte !== openBrace || !this.#group(list, elements, position)) return false;
      byte = json.next();
      if (byte === comma) {
        json.separated = true;
        json.at += 1;
        byte = json.next();
        if (byte === closeBracket) return false;
      } else if (byte !== closeBracket) return false;
    }
    json.at += 1;
    if (!this.#cells.jsonCell(rows, cell, start)) return false;
    this.#cells.endText(outer);
    return true;
  }

  /** An element, which may be one of the groups: of these the first collection is a column of `assets`, and each a row of `collections`. */
  #group(list: ListPlan, row: OpenRow, position: number): boolean {
    const json = this.#json;
    const start = json.at;
    if (!this.#element(list, row, position)) return false;
    const { places, collections } = list;
    const { rows, base } = row;
    if (places.groupKey < 0 || !rows.holds(base + places.groupKey, collection, json.bytes)) return true;
    if (!this.#hasCollection) {
      this.#hasCollection = true;
      this.#row.rows.copyCell(this.#row.base + assetPlaces.collection, rows, base + places.groupValue);
    }
    const found = this.#elements[collections?.index ?? -1];
    if (collections === undefined || found === undefined) return true;
    const counted = found.drifts.length;
    json.at = start;
    if (!this.#element(collections, found, position)) return false;
    // The unknown fields were counted when the element was read as a group.
    found.drifts.length = counted;
    return true;
  }

  #element({ element, places }: ListPlan, row: OpenRow, position: number): boolean {
    const { rows, extra } = row;
    if (rows.rows >= mostListRows) return false;
    const base = rows.addRow();
    row.base = base;
    if (position < 100) rows.setSpan(base + places.position, ~positionAt(position), position < 10 ? 1 : 2);
    else rows.setText(base + places.position, String(position), false);
    extra.begin();
    const outcome = this.#object(element, row);
    if (outcome === refused) return false;
    const left = extra.finish();
    if (left !== undefined) rows.setBytes(base + places.extra, left, jsonMarks);
    else if (outcome === tookNothing) rows.setText(base + places.extra, '{}', false);
    return true;
  }

  #branch(member: Member, plan: ObjectPlan, row: OpenRow): number {
    const { extra } = row;
    extra.enter(member.key);
    const outcome = this.#object(plan, row);
    if (outcome === refused) return refused;
    const isLeft = extra.leave();
    if (outcome === tookSome) return isLeft ? tookNothing : tookSome;
    // An object that leaves no trace in the columns is kept as such.
    if (!isLeft) extra.addText(member.key, '{}');
    return tookNothing;
  }
}
