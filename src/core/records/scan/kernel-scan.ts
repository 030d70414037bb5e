import { type Kernel, theKernel, planBytes } from '../../../lib/kernel/kernel.ts';
import {
  boundsCapacitySlot,
  boundsSlot,
  capacitySlot,
  collectionColumnSlot,
  driftCountSlot,
  driftsBeforeSlot,
  driftsSlot,
  elementExtraSlot,
  extraBytesSlot,
  extraColumnSlot,
  firstTableSlot,
  fromSlot,
  idColumnSlot,
  interfaceColumnSlot,
  lengthSlot,
  madeBeforeSlot,
  madeBytesSlot,
  madeEndSlot,
  madeSlot,
  marksSlot,
  mostDriftsSlot,
  mostRecordsSlot,
  recordCountSlot,
  recordEndSlot,
  recordExtraSlot,
  rootSlot,
  rowsBeforeSlot,
  rowsSlot,
  scanDone,
  scanFull,
  scanRefused,
  scanSlot,
  stoppedSlot,
  tableSlots,
  typesSlot,
  widthSlot,
} from '../../../lib/kernel/slots.ts';
import { numberOf, numberText } from '../../../lib/json/json.ts';
import { doubleOf, int64Of, uint64Of } from '../flatten-asset.ts';
import type { MadeText } from '../texts.ts';
import type { RowBlockBuilder } from '../row-block.ts';
import {
  assetPlaces,
  memberKinds,
  type RecordPlan,
  type TableDrift,
  type ListPlan,
  type Member,
  type ObjectPlan,
} from './record-plan.ts';

/** The numbers that are kept of a record, in the order in which the kernel gives them (`close` in kernel/scan.ts). */
export const bound = {
  /** Where it begins and ends in the answer's bytes. */
  start: 0,
  end: 1,
  /** 1 when blanks may stand between its tokens. */
  mayHoldBlanks: 2,
  /** How many drifts there are up to its last. */
  driftEnd: 3,
  /** By the index of a child table: how many rows there are up to its last. */
  childEnd: (table: number) => 4 + table,
} as const;

/** Where the records of an answer, their rows and their drifts end: in one array, as a record has many such numbers. */
export class RecordBounds {
  /** Records so far. */
  count = 0;
  /** Numbers a record. */
  readonly stride: number;
  #numbers: Int32Array;

  constructor(childTables: number, records: number) {
    this.stride = bound.childEnd(childTables);
    this.#numbers = new Int32Array(this.stride * records);
  }

  /** Adds records with all their numbers. */
  add(numbers: Int32Array): void {
    const at = this.count * this.stride;
    if (at + numbers.length > this.#numbers.length) this.#grow(at + numbers.length);
    this.#numbers.set(numbers, at);
    this.count += numbers.length / this.stride;
  }

  /** 0 for the record before the first: nothing ends there. */
  of(record: number, which: number): number {
    return record < 0 ? 0 : (this.#numbers[record * this.stride + which] ?? 0);
  }

  #grow(needed: number): void {
    const larger = new Int32Array(Math.max(needed, this.#numbers.length * 2));
    larger.set(this.#numbers);
    this.#numbers = larger;
  }
}

const positions = Array.from({ length: 100 }, (_, position) => String(position).padEnd(2)).join('');

/** JSON types, in the order in which the kernel knows them (kernel/cells.ts). */
const types = ['string', 'number', 'boolean', 'array', 'object', 'null'];

/** What the texts begin with that no answer holds: positions up to 99, two bytes each, and the JSON types. */
export const childConstants: Uint8Array = Buffer.from(positions + types.join(''));

/** Where the types begin in them. */
const typesOffset: number = positions.length;

/** Where the rows of records go: to `assets`, and to each child table by its place in `childTables`. Their texts lie in the answer or in `made`. */
export interface RecordTarget {
  readonly assets: RowBlockBuilder;
  readonly children: readonly RowBlockBuilder[];
  readonly made: MadeText;
  /** How records differ from the specification, in the order in which that was met. */
  readonly drifts: TableDrift[];
  readonly bounds: RecordBounds;
}

/** Records that a call has room for. */
const recordRoom = 1024;

/** Room for what its records make, unless a record makes more. */
const usualRoom = { childRows: 4096, madeBytes: 1 << 20, extraBytes: 1 << 18, drifts: 1 << 14 };

/** More rows of a child table than an answer fills that says anything: an empty element, of three bytes, makes one of sixty. */
const mostListRows = 2_000_000;

/** Images of plans, as long as these have learned nothing more. */
const images = new WeakMap<RecordPlan, PlanImage>();

/** Has the next records read by what the plan has learned. */
export function dropImage(plan: RecordPlan): void {
  images.delete(plan);
}

/** Has the kernel read the records of one answer into a target. */
export class KernelScan {
  readonly #source: Uint8Array;
  readonly #plan: RecordPlan;
  readonly #target: RecordTarget;
  /** Where a record begins that was refused. */
  #refused = -1;

  constructor(source: Uint8Array, plan: RecordPlan, target: RecordTarget) {
    this.#source = source;
    this.#plan = plan;
    this.#target = target;
    theKernel()?.keep(source);
  }

  /** Reads records, commas between them, and gives where the last ends; -1 when none was read. */
  read(at: number, most: number): number {
    if (at === this.#refused) return -1;
    let start = at;
    let end = -1;
    for (let left = most, scale = 1; left > 0; ) {
      const kernel = theKernel();
      if (kernel === undefined || !this.#prepare(kernel, scale)) return end;
      kernel.setSlot(scanSlot, kernel.answerAt + start);
      kernel.setSlot(mostRecordsSlot, left);
      const outcome = kernel.run.scan();
      const records = kernel.slot(recordCountSlot);
      if (records > 0) {
        this.#take(kernel, records);
        end = kernel.slot(recordEndSlot) - kernel.answerAt;
        left -= records;
      }
      start = kernel.slot(stoppedSlot) - kernel.answerAt;
      if (outcome === scanDone) break;
      // One record that makes more than there is room for.
      if (outcome === scanFull && records === 0) scale *= 4;
      if (outcome === scanRefused || scale * usualRoom.childRows > mostListRows) {
        this.#refused = start;
        break;
      }
    }
    return end;
  }

  /** Says that the answer may become another. */
  release(): void {
    theKernel()?.forget(this.#source);
  }

  /** Loads answer and plan and lays out the regions. False where there is no memory for them. */
  #prepare(kernel: Kernel, scale: number): boolean {
    const image = images.get(this.#plan) ?? planImage(this.#plan, kernel.planAt);
    if (image === undefined) return false;
    images.set(this.#plan, image);
    try {
      kernel.loadPlan(image.bytes);
      kernel.loadAnswer(this.#source);
      this.#layOut(kernel, scale);
    } catch (error) {
      if (error instanceof RangeError) return false;
      throw error;
    }
    kernel.setSlot(rootSlot, image.root);
    kernel.isCellText = isCellText;
    return true;
  }

  #layOut(kernel: Kernel, scale: number): void {
    const { drifts, made, bounds } = this.#target;
    const room = {
      made: usualRoom.madeBytes * scale,
      extra: usualRoom.extraBytes * scale,
      drifts: usualRoom.drifts * scale,
    };
    const tables = this.#tables;
    const rows = tables.map((_, index) => (index === 0 ? recordRoom : usualRoom.childRows * scale));
    const cells = tables.flatMap(({ width }, index) => {
      const count = width * (rows[index] ?? 0);
      return [count * 4, count * 4, count];
    });
    const [madeAt = 0, recordExtra = 0, elementExtra = 0, driftsAt = 0, boundsAt = 0, ...cellsAt] = kernel.regions([
      ...[room.made, room.extra, room.extra, room.drifts * 4, recordRoom * bounds.stride * 4],
      ...cells,
    ]);
    for (const [index, { width, rows: before }] of tables.entries()) {
      const slot = firstTableSlot + index * tableSlots;
      kernel.setSlot(slot + widthSlot, width);
      kernel.setSlot(slot + fromSlot, cellsAt[index * 3] ?? 0);
      kernel.setSlot(slot + lengthSlot, cellsAt[index * 3 + 1] ?? 0);
      kernel.setSlot(slot + marksSlot, cellsAt[index * 3 + 2] ?? 0);
      kernel.setSlot(slot + capacitySlot, rows[index] ?? 0);
      kernel.setSlot(slot + rowsBeforeSlot, before);
    }
    kernel.setSlots([
      ...[madeSlot, madeAt, madeBytesSlot, room.made, madeBeforeSlot, made.end, typesSlot, typesOffset],
      ...[recordExtraSlot, recordExtra, elementExtraSlot, elementExtra, extraBytesSlot, room.extra],
      ...[driftsSlot, driftsAt, mostDriftsSlot, room.drifts, driftsBeforeSlot, drifts.length],
      ...[boundsSlot, boundsAt, boundsCapacitySlot, recordRoom],
      ...[idColumnSlot, assetPlaces.id, interfaceColumnSlot, assetPlaces.interface],
      ...[collectionColumnSlot, assetPlaces.collection, extraColumnSlot, assetPlaces.extra],
    ]);
  }

  get #tables(): readonly RowBlockBuilder[] {
    return [this.#target.assets, ...this.#target.children];
  }

  /** Copies what came of the records out of the kernel's memory. */
  #take(kernel: Kernel, records: number): void {
    const { drifts, made, bounds } = this.#target;
    const { bytes, words } = kernel;
    const madeAt = kernel.slot(madeSlot);
    made.addBytes(bytes.subarray(madeAt, kernel.slot(madeEndSlot)));
    for (const [index, table] of this.#tables.entries()) {
      const slot = firstTableSlot + index * tableSlots;
      const rows = kernel.slot(slot + rowsSlot);
      if (rows === 0) continue;
      const cells = rows * table.width;
      const from = kernel.slot(slot + fromSlot) >> 2;
      const length = kernel.slot(slot + lengthSlot) >> 2;
      const marks = kernel.slot(slot + marksSlot);
      table.addRows(rows, {
        from: words.subarray(from, from + cells),
        length: words.subarray(length, length + cells),
        marks: bytes.subarray(marks, marks + cells),
      });
    }
    const driftsAt = kernel.slot(driftsSlot) >> 2;
    for (let index = 0, count = kernel.slot(driftCountSlot); index < count; index += 1) {
      const drift = this.#plan.drifts[words[driftsAt + index] ?? 0];
      if (drift !== undefined) drifts.push(drift);
    }
    const boundsAt = kernel.slot(boundsSlot) >> 2;
    bounds.add(words.subarray(boundsAt, boundsAt + records * bounds.stride));
  }
}

function isCellText(text: string, kind: number): boolean {
  const number = numberOf(text);
  const fit = memberKinds[kind] === 'double' ? doubleOf : memberKinds[kind] === 'int64' ? int64Of : uint64Of;
  const fitted = fit(number);
  if (fitted === undefined) return false;
  return (typeof fitted === 'bigint' ? String(fitted) : numberText(fitted)) === text;
}

/** Bytes of an object, a list, and a member before its key: kernel/README.md draws them. */
const objectBytes = 16;
const listBytes = 32;
const memberBytes = 48;

/** A plan as the kernel has it in memory. */
interface PlanImage {
  readonly bytes: Uint8Array;
  /** Where the object lies that a record is. */
  readonly root: number;
}

/** Writes a plan for the kernel, with addresses. @param base where it will lie. Undefined when it takes more room than there is */
function planImage({ root }: RecordPlan, base: number): PlanImage | undefined {
  const writer = new PlanWriter(base);
  const at = writer.object(root);
  return writer.isWhole ? { bytes: scratch.slice(0, writer.end), root: at } : undefined;
}

/** Where every plan is written before it is copied. */
const scratch = new Uint8Array(planBytes);
const view = new DataView(scratch.buffer);

class PlanWriter {
  readonly #base: number;
  /** Behind what was written; more than the room when not all fits. */
  end = 0;

  constructor(base: number) {
    this.#base = base;
  }

  get isWhole(): boolean {
    return this.end <= planBytes;
  }

  /** Each gives the address of what it writes. */
  object({ members }: ObjectPlan): number {
    const at = this.#take(objectBytes);
    let behind = 0;
    // The first member of the columns comes first: learned names are met less.
    for (const member of [...members.values()].reverse()) behind = this.#member(member, behind);
    this.#numbers(at, [0, 0, behind, 0]);
    return this.#base + at;
  }

  #member(member: Member, behind: number): number {
    const { key, kind, column, branch, list, values, drift } = member;
    const blocks = (key.length + 15) & ~15;
    const at = this.#take(memberBytes + 2 * blocks);
    const inner = branch === undefined ? (list === undefined ? 0 : this.#list(list)) : this.object(branch);
    const texts = values === undefined ? 0 : this.#values(values);
    this.#numbers(at, [
      ...[0, 0, behind, -1],
      ...[memberKinds.indexOf(kind), column, inner, texts],
      ...[drift, key.length, blocks, 0],
    ]);
    if (this.isWhole) {
      scratch.fill(0, at + memberBytes, at + memberBytes + 2 * blocks);
      scratch.set(key, at + memberBytes);
      scratch.fill(0xff, at + memberBytes + blocks, at + memberBytes + blocks + key.length);
    }
    return this.#base + at;
  }

  #list({ index, element, places, collections }: ListPlan): number {
    const at = this.#take(listBytes);
    const inner = this.object(element);
    const others = collections === undefined ? 0 : this.#list(collections);
    const { position, extra, groupKey, groupValue } = places;
    this.#numbers(at, [index + 1, inner, position, extra, groupKey, groupValue, others]);
    return this.#base + at;
  }

  /** Each with its length, and -1 behind the last. */
  #values(values: readonly Uint8Array[]): number {
    const at = this.#take(values.reduce((sum, { length }) => sum + 4 + ((length + 3) & ~3), 4));
    let place = at;
    for (const value of values) {
      this.#numbers(place, [value.length]);
      if (this.isWhole) scratch.set(value, place + 4);
      place += 4 + ((value.length + 3) & ~3);
    }
    this.#numbers(place, [-1]);
    return this.#base + at;
  }

  #numbers(at: number, numbers: readonly number[]): void {
    if (!this.isWhole) return;
    for (const [index, number] of numbers.entries()) view.setInt32(at + index * 4, number, true);
  }

  #take(bytes: number): number {
    const at = this.end;
    this.end += (bytes + 15) & ~15;
    return at;
  }
}
