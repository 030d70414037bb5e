/** A worker of a fleet, as its last heartbeat shows it. */
export interface FleetWorker {
  readonly host: string;
  readonly pid: number;
  /** The slice that it makes. */
  readonly slice: number;
  /** In its scratch folder of that slice. */
  readonly calls: number;
  readonly credits: number;
  /** Ids whose answers it has, and that are in no committed part. */
  readonly fetched: number;
  /** Seconds since its last heartbeat, by the clocks of two machines. */
  readonly heardSecondsAgo: number;
}

/** How far the slices of an export are that was enqueued. */
export interface FleetStanding {
  /** Entries of all inputs. */
  readonly entries: number;
  readonly slices: number;
  readonly done: number;
  /** By a worker that is alive. */
  readonly held: number;
  /** Not begun, released, or of a worker that died. */
  readonly free: number;
  /** Ids whose answers stopped workers left in the bucket, and that are in no committed part. */
  readonly kept: number;
  /** Alive. */
  readonly workers: readonly FleetWorker[];
}
