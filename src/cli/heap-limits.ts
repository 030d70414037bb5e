import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';

/** Of V8's young generation, both halves, as a rule: a larger one saves no time, and buffers of the network lie longer as garbage. */
const mostYoungBytes = 16 * 1024 * 1024;

const lookEveryMs = 100;

let watch: NodeJS.Timeout | undefined;
let mayGrow = true;

/** For a program of one thread: what a run holds at once is small, and V8 would let several times as much garbage lie. */
export function keepHeapSmall(): void {
  setFlagsFromString('--heap-growing-percent=60');
  // Little of what is young is alive: sharing it out among V8's helpers takes longer than looking at it.
  setFlagsFromString('--no-parallel-scavenge');
}

/** For an export on one thread. */
export function keepYoungSmall(): void {
  watch ??= setInterval(limitYoung, lookEveryMs).unref();
}

/** For one of several: the heap of a thread is small as it is, and flags are for all heaps at once. */
export function letHeapsGrow(): void {
  clearInterval(watch);
  watch = undefined;
  growYoung(true);
  setFlagsFromString('--heap-growing-percent=150');
}

/** How large it may become is fixed as V8 starts; how fast it grows is not. It may shrink while a run waits. */
function limitYoung(): void {
  const young = getHeapSpaceStatistics().find((space) => space.space_name === 'new_space');
  growYoung((young?.space_size ?? 0) < mostYoungBytes);
}

function growYoung(may: boolean): void {
  if (may === mayGrow) return;
  mayGrow = may;
  setFlagsFromString(`--semi-space-growth-factor=${may ? 2 : 1}`);
}
