/** So many pages with members around a place show how far a page reaches there. */
const nearest = 15;

/**
 * Where ids become crowded the adjacent pages know it first: the median of so many, taken so many times, bounds the span. Else an
 * empty page behind the first crowded ones would be followed by a step over the rest of the crowd.
 */
const adjacent = 3;
const mostTimesHere = 8n;

/** What a page with members covers: from the place asked, if that was an id, else from its first id, to its last. */
export interface PageSpan {
  readonly from: bigint;
  readonly to: bigint;
}

/**
 * How far pages reach. A span holds at most as many rows of the index as a page takes, so half of one holds half as many on
 * average. Spans do not overlap.
 */
export class Spans {
  /** In the order of keys. */
  readonly #spans: PageSpan[] = [];

  get isEmpty(): boolean {
    return this.#spans.length === 0;
  }

  /** One that is empty says nothing: a page of a single member that was asked from no id. */
  add(span: PageSpan): void {
    if (span.to > span.from) this.#spans.splice(this.#behind(span.from), 0, span);
  }

  /** The median of the nearest spans; undefined while none is known. */
  near(place: bigint): bigint | undefined {
    const spans = this.#spans;
    let right = this.#behind(place);
    let left = right - 1;
    const widths: bigint[] = [];
    while (widths.length < nearest) {
      const before = spans[left];
      const after = spans[right];
      if (before === undefined && after === undefined) break;
      const isBefore = after === undefined || (before !== undefined && place - before.to <= after.from - place);
      const chosen = isBefore ? before : after;
      if (chosen !== undefined) widths.push(chosen.to - chosen.from);
      if (isBefore) left -= 1;
      else right += 1;
    }
    const usual = medianOf(widths);
    if (usual === undefined || widths.length < nearest) return usual;
    const here = mostTimesHere * (medianOf(widths.slice(0, adjacent)) ?? usual);
    return here < usual ? here : usual;
  }

  /** The place of the first span that begins behind a key. */
  #behind(key: bigint): number {
    let low = 0;
    let high = this.#spans.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#spans[middle]?.from ?? 0n) <= key) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** Of an even number the larger one in the middle. */
function medianOf(widths: readonly bigint[]): bigint | undefined {
  const sorted = [...widths].sort((one, other) => (one < other ? -1 : Number(one > other)));
  return sorted[sorted.length >> 1];
}
