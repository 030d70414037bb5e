/**
 * Hands out the slices of an export to its workers. It decides nothing: a job that is lost, repeated or wrongly finished changes
 * no file, because the log of a slice says who holds it and whether it is done.
 */
export interface SliceQueue {
  /** Adds a job for each slice; a slice that has one keeps it. */
  add(slices: readonly number[]): Promise<void>;
  /** The next slice to try; undefined when no job waits. */
  take(): Promise<SliceJob | undefined>;
  /** Removes all jobs: the export is complete. */
  clear(): Promise<void>;
  close(): Promise<void>;
}

/** A job that is kept from others until it is finished or given back, or this process dies. */
export interface SliceJob {
  readonly slice: number;
  /** Removes the job. */
  finish(): Promise<void>;
  /** Gives the job to others, at once or from a moment on, in milliseconds since 1970 UTC. */
  giveBack(notBeforeMs?: number): Promise<void>;
}
