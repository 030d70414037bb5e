import type { CallOutline } from '../asset-client.ts';

/** A call for one id alone, by which the state of the service shows: an id, or where it stands in the call, from 0 up to 1. */
export type ControlOf<Call> = (call: Call, id: string | number) => Call;

/** Chooses which id of which call shows the state of the service. */
export class Controls<Call extends CallOutline> {
  readonly #controlOf: ControlOf<Call>;
  readonly #random: () => number;
  /** Calls without a definite answer, the oldest first. */
  readonly #open = new Set<Call>();
  /** An id that this client has had an answer for. */
  #known: string | undefined;
  /** Where the last control stood in its call: the next one is another id. */
  #place: number;

  constructor(controlOf: ControlOf<Call>, random: () => number) {
    this.#controlOf = controlOf;
    this.#random = random;
    this.#place = random();
  }

  opened(call: Call): void {
    this.#open.add(call);
  }

  closed(call: Call): void {
    this.#open.delete(call);
  }

  isOpen(call: Call): boolean {
    return this.#open.has(call);
  }

  answered(call: Call): void {
    this.#known = call.ids.first ?? this.#known;
  }

  /** The oldest open call that has a control. A call of one id is its own. */
  oldest(): Call | undefined {
    return [...this.#open].find(({ ids }) => this.#known !== undefined || ids.length > 1);
  }

  of(call: Call): Call {
    this.#place = (this.#place + 0.5 + this.#random() / 100) % 1;
    return this.#controlOf(call, this.#known ?? this.#place);
  }
}
