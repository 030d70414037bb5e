import { answerSlot, driftsSlot, mostDriftsSlot, typesSlot } from '../src/lib/kernel/slots';
import { addressSlot, slot } from './memory';

/** Where the answer begins: cells count from here. */
export let answerAt: usize = 0;
/** Where the names of the JSON types begin among the constants of the texts that are made. */
export let typeOffset: i32 = 0;

let driftsAt: usize = 0;
let mostDrifts: i32 = 0;
export let drifts: i32 = 0;

export function beginState(): void {
  answerAt = addressSlot(answerSlot);
  typeOffset = slot(typesSlot);
  driftsAt = addressSlot(driftsSlot);
  mostDrifts = slot(mostDriftsSlot);
  drifts = 0;
}

/** Counts what differs from the specification, by the number of its member. Where there is no room, `drifts` says how many there were. */
export function addDrift(number: i32): void {
  if (drifts < mostDrifts) store<i32>(driftsAt + ((<usize>drifts) << 2), number);
  drifts += 1;
}

export function cutDrifts(count: i32): void {
  drifts = count;
}

export function hasDriftRoom(): bool {
  return drifts <= mostDrifts;
}
