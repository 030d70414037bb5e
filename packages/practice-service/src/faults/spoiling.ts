import type { AssetQuery } from '../asset-query.ts';
import type { ServiceQuery } from '../lists/list-query.ts';
import { type ListFaults, listFaults } from './list-faults.ts';
import { type Failure, fail, reword } from './fault-errors.ts';
import type { ActiveFault } from './fault-plan.ts';
import { refuse } from './fault-refusals.ts';
import type { HttpAnswer } from '../http-answer.ts';
import type { ErrorObject } from '../json-rpc.ts';
import { spoilAnswer } from './spoil-answer.ts';
import { type Elements, isForgotten, spoilElements } from './spoil-elements.ts';

/** Applies the faults of one exchange, stage by stage. Within a stage they act in the file's order. */
export class Spoiling {
  readonly #faults: readonly ActiveFault[];

  constructor(faults: readonly ActiveFault[]) {
    this.#faults = faults;
  }

  /** Refuses the exchange before anything is looked up. */
  refuse(
    queries: readonly ServiceQuery[],
    nowMs: number,
  ): { answer: HttpAnswer; charged: boolean | number } | undefined {
    for (const { fault } of this.#faults) {
      const answer = refuse(fault, queries, nowMs);
      if (answer !== undefined) return { answer, charged: fault.charged ?? false };
    }
    return undefined;
  }

  /** Fails one call of the exchange. */
  fail(query: ServiceQuery): Failure | undefined {
    for (const { fault } of this.#faults) {
      const failure = fail(fault, query);
      if (failure !== undefined) return failure;
    }
    return undefined;
  }

  /** An error of the service, perhaps in other words. */
  error(error: ErrorObject): ErrorObject {
    return this.#faults.reduce((worded, { fault }) => reword(fault, worded), error);
  }

  isForgotten(id: string, unverified: boolean): boolean {
    return this.#faults.some((active) => isForgotten(active, id, unverified));
  }

  /** Spoils the result of a `getAssets` call. */
  elements(elements: Elements, query: AssetQuery): Elements | ErrorObject {
    let spoiled = elements;
    for (const active of this.#faults) {
      const next = spoilElements(active, spoiled, query);
      if ('code' in next) return next;
      spoiled = next;
    }
    return spoiled;
  }

  /** The faults of lists. */
  lists(): ListFaults {
    return listFaults(this.#faults);
  }

  /** The id of the answer, as JSON text. */
  responseId(id: string): string {
    const active = this.#faults.find(({ fault }) => fault.fault === 'responseId');
    return active?.fault.fault === 'responseId' ? JSON.stringify(active.fault.id) : id;
  }

  answer(answer: HttpAnswer): HttpAnswer {
    return this.#faults.reduce((spoiled, active) => spoilAnswer(active, spoiled), answer);
  }
}
