import type { AssetQuery } from './asset-query.ts';
import { type Failure, fail, reword } from './fault-errors.ts';
import type { Strike } from './fault-plan.ts';
import { refuse } from './fault-refusals.ts';
import type { HttpAnswer } from './http-answer.ts';
import type { RpcError } from './json-rpc.ts';
import { spoilAnswer } from './spoil-answer.ts';
import { type Elements, isForgotten, spoilElements } from './spoil-elements.ts';

/** What the faults that strike one exchange do to it, stage by stage. Within a stage they act in the file's order. */
export class Spoiling {
  readonly #strikes: readonly Strike[];

  constructor(strikes: readonly Strike[]) {
    this.#strikes = strikes;
  }

  /** Refuses the exchange before anything is looked up. */
  refuse(queries: readonly AssetQuery[], nowMs: number): { answer: HttpAnswer; charged: boolean | number } | undefined {
    for (const { fault } of this.#strikes) {
      const answer = refuse(fault, queries, nowMs);
      if (answer !== undefined) return { answer, charged: fault.charged ?? false };
    }
    return undefined;
  }

  /** Fails one call of the exchange. */
  fail(query: AssetQuery): Failure | undefined {
    for (const { fault } of this.#strikes) {
      const failure = fail(fault, query);
      if (failure !== undefined) return failure;
    }
    return undefined;
  }

  /** An error of the service, perhaps in other words. */
  error(error: RpcError): RpcError {
    return this.#strikes.reduce((worded, { fault }) => reword(fault, worded), error);
  }

  isForgotten(id: string, unverified: boolean): boolean {
    return this.#strikes.some((strike) => isForgotten(strike, id, unverified));
  }

  /** Spoils the result of a `getAssets` call. */
  elements(elements: Elements, query: AssetQuery): Elements | RpcError {
    let spoiled = elements;
    for (const strike of this.#strikes) {
      const next = spoilElements(strike, spoiled, query);
      if ('code' in next) return next;
      spoiled = next;
    }
    return spoiled;
  }

  /** The id of the answer, as JSON text. */
  responseId(id: string): string {
    const strike = this.#strikes.find(({ fault }) => fault.fault === 'responseId');
    return strike?.fault.fault === 'responseId' ? JSON.stringify(strike.fault.id) : id;
  }

  answer(answer: HttpAnswer): HttpAnswer {
    return this.#strikes.reduce((spoiled, strike) => spoilAnswer(strike, spoiled), answer);
  }
}
