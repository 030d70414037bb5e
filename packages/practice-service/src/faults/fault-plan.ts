import { createHash } from 'node:crypto';
import type { PageQuery, ServiceQuery } from '../lists/list-query.ts';
import type { Fault, Faults } from './fault-schema.ts';
import { drawFrom } from './seeded-draw.ts';

/** A fault that applies to a call, with draws that depend on seed, batch, attempt and place in the file. */
export interface ActiveFault {
  readonly fault: Fault;
  readonly draw: () => number;
  /** Number of the call, from 1. */
  readonly call: number;
  /** Like `draw`, but the same on every attempt. */
  readonly drawForBatch: (more: string) => () => number;
}

/** Decides which faults apply to a call. The same calls in the same order get the same faults. */
export class FaultPlan {
  readonly #faults: Faults;
  readonly #attempts = new Map<string, number>();
  #calls = 0;

  constructor(faults: Faults) {
    this.#faults = faults;
  }

  /** @param queries the calls of one exchange: faults apply to a JSON-RPC batch as a whole. */
  faultsFor(queries: readonly ServiceQuery[]): ActiveFault[] {
    const batch = batchOf(queries);
    const attempt = (this.#attempts.get(batch) ?? 0) + 1;
    this.#attempts.set(batch, attempt);
    this.#calls += 1;
    return this.#faults.faults.flatMap((fault, index) => {
      const seed = `${this.#faults.seed} ${index}`;
      const draw = drawFrom(`${seed} ${batch} ${attempt}`);
      if (!applies(fault.when, { queries, call: this.#calls, attempt, draw })) return [];
      return [{ fault, draw, call: this.#calls, drawForBatch: (more: string) => drawFrom(`${seed} ${more}`) }];
    });
  }
}

interface CallFacts {
  readonly queries: readonly ServiceQuery[];
  /** Number of the call, from 1. */
  readonly call: number;
  /** Number of the attempt for this batch, from 1. */
  readonly attempt: number;
  readonly draw: () => number;
}

function applies(when: Fault['when'], { queries, call, attempt, draw }: CallFacts): boolean {
  // Always drawn, so that a fault's other draws do not depend on its conditions.
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

function batchOf(queries: readonly ServiceQuery[]): string {
  const hash = createHash('sha256');
  for (const query of queries)
    hash.update(`${query.method} ${'place' in query ? placeText(query) : query.ids.join(' ')}\n`);
  return hash.digest('base64');
}

function placeText({ address, place: { after, before, page } }: PageQuery): string {
  return [address, page, ...[after, before].map((key) => key && Buffer.from(key).toString('hex'))].join(' ');
}
