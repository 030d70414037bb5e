/** A wait this short after a reset belongs to it: the clock of the service may be behind. */
const lateMs = 15 * 60_000;

export interface KeptNotices {
  /** The reset times that notices named, of all processes of the export; in milliseconds since 1970 UTC. */
  read(): Promise<readonly number[]>;
  /** Keeps that a notice of this reset time was delivered. */
  write(untilMs: number): Promise<void>;
}

/**
 * Which waits for credits were reported: one notice a reset time, whichever process of the export sends it. A run is followed before its
 * export is open, so what earlier runs kept comes later.
 */
export class Notices {
  readonly #told: number[] = [];
  #kept: KeptNotices | undefined;

  keepIn(kept: KeptNotices): void {
    this.#kept = kept;
  }

  async isTold(untilMs: number): Promise<boolean> {
    const kept = (await this.#kept?.read().catch(() => [])) ?? [];
    return [...this.#told, ...kept].some((told) => untilMs <= told + lateMs && untilMs >= told);
  }

  async tell(untilMs: number): Promise<void> {
    this.#told.push(untilMs);
    await this.#kept?.write(untilMs);
  }
}
