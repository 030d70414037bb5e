import { ExportError } from '../../lib/export-error.ts';
import { plural } from '../../lib/format-text.ts';
import { holderSign } from '../../places/log/heartbeat.ts';
import { ExportIsComplete } from '../../core/run/homes/home-start.ts';
import type { HeldSlice, SliceSource } from '../../core/run/homes/export-home.ts';
import type { FleetSlices } from './fleet-slices.ts';

/** Where a worker begins: at slice `index` · slices / `count`. Workers without a number begin at the first one. */
export interface Shard {
  readonly index: number;
  readonly count: number;
}

export interface FromShard {
  readonly slices: FleetSlices;
  readonly shard: Shard;
  /** Whether to wait while others hold all slices that are left. */
  readonly waits: boolean;
}

/** How often a holder is looked at before it counts as dead. */
const looks = 12;

/**
 * Slices for a worker that shares an export with others: first those that nobody holds, from its own place on and round; then
 * those whose holders released them or died.
 */
export function fromShard(from: FromShard): SliceSource {
  return new ShardSlices(from);
}

class ShardSlices implements SliceSource {
  readonly #slices: FleetSlices;
  readonly #waits: boolean;
  /** Slices that were not looked at yet, in order. */
  readonly #ahead: number[];
  /** What was last seen of a slice that another process holds, and how many looks ago it changed. */
  readonly #others = new Map<number, { sign: string | undefined; looks: number }>();

  constructor({ slices, shard, waits }: FromShard) {
    this.#slices = slices;
    this.#waits = waits;
    const { length } = slices.all;
    const first = Math.floor((shard.index * length) / shard.count);
    this.#ahead = Array.from({ length }, (_, index) => (first + index) % length);
  }

  async next(stop: AbortSignal): Promise<HeldSlice | undefined> {
    try {
      return (await this.#nextFree(stop)) ?? (await this.#nextLeft(stop));
    } catch (error) {
      if (error instanceof ExportIsComplete) return undefined;
      throw error;
    }
  }

  async #nextFree(stop: AbortSignal): Promise<HeldSlice | undefined> {
    for (let slice = this.#ahead.shift(); slice !== undefined; slice = this.#ahead.shift()) {
      stop.throwIfAborted();
      if ((await this.#slices.log(slice).refresh()).isDone) continue;
      // This worker may lose it: then it is looked at again.
      this.#others.set(slice, { sign: undefined, looks: 0 });
      const held = await this.#slices.tryClaim(slice, stop, 'skip');
      if (held !== undefined) return held;
    }
    return undefined;
  }

  async #nextLeft(stop: AbortSignal): Promise<HeldSlice | undefined> {
    const { clock, deadAfterSeconds } = this.#slices.place;
    for (;;) {
      for (const slice of this.#others.keys()) {
        const held = await this.#look(slice, stop);
        if (held !== undefined) return held;
      }
      if (this.#others.size === 0) return undefined;
      if (!this.#waits) throw this.#heldByOthers();
      this.#slices.hasWaited = true;
      await clock.sleep((deadAfterSeconds * 1000) / looks, stop);
    }
  }

  /** Claims a slice that was released, or whose holder is dead: nothing of it changed for `looks` waits. */
  async #look(slice: number, stop: AbortSignal): Promise<HeldSlice | undefined> {
    const log = this.#slices.log(slice);
    const { isDone, holder } = await log.refresh();
    if (isDone) {
      this.#others.delete(slice);
      return undefined;
    }
    if (holder === undefined) return this.#slices.tryClaim(slice, stop, 'skip');
    const sign = await holderSign(this.#slices.place.store, log);
    const seen = this.#others.get(slice);
    const isSame = seen?.sign === sign;
    const now = { sign, looks: isSame ? seen.looks + 1 : 0 };
    this.#others.set(slice, now);
    const claimed = await this.#slices.tryClaim(slice, stop, now.looks >= looks ? 'take' : 'skip');
    if (claimed !== undefined) this.#others.set(slice, { sign: undefined, looks: 0 });
    return claimed;
  }

  #heldByOthers(): ExportError {
    const left = this.#others.size;
    return new ExportError(
      'locked',
      `other workers hold the ${plural(left, 'slice')} that ${left === 1 ? 'is' : 'are'} left`,
      {
        todo: 'They finish the export. Without --no-wait this worker waits, and takes over from workers that died.',
      },
    );
  }
}
