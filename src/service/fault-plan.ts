import { createHash } from 'node:crypto';
import type { AssetQuery } from './asset-query.ts';
import type { Fault, Faults } from './fault-schema.ts';
import { drawFrom } from './seeded-draw.ts';

/** A fault that strikes a call, with draws that depend on seed, batch, attempt and place in the file. */
export interface Strike {
  readonly fault: Fault;
  readonly draw: () => number;
  /** As `draw`, but alike on every attempt. */
  readonly drawForBatch: (more: string) => () => number;
}

/** Decides which faults strike a call. The same calls in the same order are struck alike; so is a batch by itself. */
export class FaultPlan {
  readonly #faults: Faults;
  readonly #attempts = new Map<string, number>();
  #calls = 0;

  constructor(faults: Faults) {
    this.#faults = faults;
  }

  /** @param queries the calls of one exchange: a JSON-RPC batch is struck as one. */
  strikes(queries: readonly AssetQuery[]): Strike[] {
    const batch = batchOf(queries);
    const attempt = (this.#attempts.get(batch) ?? 0) + 1;
    this.#attempts.set(batch, attempt);
    this.#calls += 1;
    return this.#faults.faults.flatMap((fault, index) => {
      const seed = `${this.#faults.seed} ${index}`;
      const draw = drawFrom(`${seed} ${batch} ${attempt}`);
      if (!isStruck(fault.when, { queries, call: this.#calls, attempt, draw })) return [];
      return [{ fault, draw, drawForBatch: (more: string) => drawFrom(`${seed} ${more}`) }];
    });
  }
}

interface Circumstance {
  readonly queries: readonly AssetQuery[];
  /** Number of the call, from 1. */
  readonly call: number;
  /** How many times this batch has been asked, from 1. */
  readonly attempt: number;
  readonly draw: () => number;
}

function isStruck(when: Fault['when'], { queries, call, attempt, draw }: Circumstance): boolean {
  // Drawn in any case, so that a fault's other draws do not depend on its conditions.
  const drawn = draw();
  if (when === undefined) return true;
  if (when.first !== undefined && call > when.first) return false;
  if (when.after !== undefined && call <= when.after) return false;
  if (when.every !== undefined && call % when.every !== 0) return false;
  if (when.attempts !== undefined && attempt > when.attempts) return false;
  if (when.probability !== undefined && drawn >= when.probability) return false;
  if (when.method !== undefined && !queries.some(({ method }) => method === when.method)) return false;
  if (when.minIds !== undefined && !queries.some(({ ids }) => ids.length >= (when.minIds ?? 0))) return false;
  return when.ids === undefined || queries.some(({ ids }) => ids.some((id) => when.ids?.includes(id)));
}

function batchOf(queries: readonly AssetQuery[]): string {
  const hash = createHash('sha256');
  for (const { method, ids } of queries) hash.update(`${method} ${ids.join(' ')}\n`);
  return hash.digest('base64');
}
