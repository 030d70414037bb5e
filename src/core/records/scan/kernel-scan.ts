import { type Kernel, theKernel } from '../../../lib/kernel/kernel.ts';
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
import { numberOf, numberText } from '../../../lib/json/json-value.ts';
import { doubleOf, int64Of, uint64Of } from '../flatten-asset.ts';
import type { MadeText } from '../texts.ts';
import type { RowBlockBuilder } from '../row-block.ts';
import { type PlanImage, planImage } from './plan-image.ts';
import { type RecordBounds, typesOffset } from './record-bounds.ts';
import { assetPlaces, memberKinds, type RecordPlan, type TableDrift } from './record-plan.ts';

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
