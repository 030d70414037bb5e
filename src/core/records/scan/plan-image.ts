import { planBytes } from '../../../lib/kernel/kernel.ts';
import { type ListPlan, type Member, memberKinds, type ObjectPlan, type RecordPlan } from './record-plan.ts';

/** Bytes of an object, a list, and a member before its key: kernel/README.md draws them. */
const objectBytes = 16;
const listBytes = 32;
const memberBytes = 48;

/** A plan as the kernel has it in memory. */
export interface PlanImage {
  readonly bytes: Uint8Array;
  /** Where the object lies that a record is. */
  readonly root: number;
}

/** Writes a plan for the kernel, with addresses. @param base where it will lie. Undefined when it takes more room than there is */
export function planImage({ root }: RecordPlan, base: number): PlanImage | undefined {
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
