import { setFlagsFromString } from 'node:v8';

/**
 * For a program of one thread: what a run holds at once is small, and V8 would let several times as much garbage lie. Looking for
 * it often costs little, as hardly anything that waits lies in the heap.
 */
export function keepHeapSmall(): void {
  setFlagsFromString('--heap-growing-percent=60');
  // The young generation stays as small as it begins: in a larger one buffers of the network lie longer as garbage.
  setFlagsFromString('--semi-space-growth-factor=1');
  // Little of what is young is alive: sharing it out among V8's helpers takes longer than looking at it.
  setFlagsFromString('--no-parallel-scavenge');
}

/** For one of several: the heap of a thread is small as it is, and flags are for all heaps at once. */
export function letHeapsGrow(): void {
  setFlagsFromString('--heap-growing-percent=150');
}
