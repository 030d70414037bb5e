const calls = 3;
const keptAnswers = 16;

/** Foreign answers that several calls got: pure. Three calls for other ids do not get the same records by chance. */
export class SharedAnswers {
  /** First ids of the calls, by the first id that their answers showed. */
  readonly #got = new Map<string, Set<string>>();

  /** @param shows the first id of a foreign answer @param first that of its call */
  isOfCache(shows: string, first: string | undefined): boolean {
    if (first === undefined) return false;
    const got = this.#got.get(shows) ?? new Set<string>();
    this.#got.delete(shows);
    this.#got.set(shows, got.add(first));
    for (const oldest of [...this.#got.keys()].slice(0, -keptAnswers)) this.#got.delete(oldest);
    return got.size >= calls;
  }
}
