import { z } from 'zod';
import type { Clock } from '../../lib/clock.ts';
import { ExportError } from '../../lib/export-error.ts';
import { type ObjectStore, readObject, versionOf } from '../objects/object-store.ts';
import { lostSlice } from './slice-hold.ts';
import { type SliceLog, sliceNames } from './slice-log.ts';
import type { Spent } from '../export/export-facts.ts';

const beatSchema = z.object({
  slice: z.number(),
  scratch: z.string(),
  host: z.string(),
  pid: z.number(),
  /** When it was put, in milliseconds since 1970 by the holder's clock: for people, and compared by no process. */
  atMs: z.number(),
  deadAfterSeconds: z.number(),
  /** Counts the beats of a holder, so that each is another object. */
  beat: z.number(),
  calls: z.number(),
  credits: z.number(),
  /** Ids of the slice that are answered, those in committed parts among them. */
  answered: z.number().default(0),
});

/** What a holder said last. Takers watch whether it changes; `status` shows it. */
export type Beat = z.infer<typeof beatSchema>;

/** The last beat of a holder; undefined when there is none, or it cannot be read. */
export async function readBeat(store: ObjectStore, nonce: string): Promise<Beat | undefined> {
  const name = sliceNames.alive(nonce);
  if ((await store.look(name)) === undefined) return undefined;
  try {
    return beatSchema.safeParse(JSON.parse((await readObject(store, name)).toString())).data;
  } catch {
    return undefined;
  }
}

/** Whether a holder may live, by the clocks of two machines: for people, and to spare an export. A beat far in the future says nothing. */
export function mayLive({ atMs, deadAfterSeconds }: Pick<Beat, 'atMs' | 'deadAfterSeconds'>, nowMs: number): boolean {
  return Math.abs(nowMs - atMs) <= deadAfterSeconds * 1000;
}

interface Heart {
  readonly store: ObjectStore;
  readonly clock: Clock;
  readonly nonce: string;
  readonly slice: number;
  readonly scratch: string;
  readonly process: { readonly host: string; readonly pid: number };
  /** Without a beat for so long, other processes take the slice. */
  readonly deadAfterSeconds: number;
  readonly spent: () => Spent;
  readonly answered: () => number;
  /** Asked when a beat was late: another process may have taken the slice. */
  readonly isHeld: () => Promise<boolean>;
  /** Runs with each beat; its failure is ignored. */
  readonly alongside?: () => Promise<void>;
}

/** Beats in a quarter of the time after which a holder counts as dead, and may call in three quarters of it. */
const beatsShare = 1 / 4;
const callsShare = 3 / 4;

/** Tells other processes that the holder of a slice is alive, and the holder whether they can know. */
export class Heartbeat {
  readonly #heart: Heart;
  readonly #ended = new AbortController();
  readonly #gone = new Promise<void>((resolve) => {
    this.#ended.signal.addEventListener('abort', () => {
      resolve();
    });
  });
  #beat = 0;
  /** Resolves with the next beat; undefined while the last one is recent enough to call. */
  #next: Promise<void> | undefined;
  #wake: () => void = () => undefined;
  #watch = new AbortController();
  #beating: Promise<void> = Promise.resolve();

  /** The first beat is put before it resolves. */
  static async start(heart: Heart): Promise<Heartbeat> {
    const heartbeat = new Heartbeat(heart);
    await heartbeat.#put();
    heartbeat.#beating = heartbeat.#run();
    return heartbeat;
  }

  private constructor(heart: Heart) {
    this.#heart = heart;
  }

  /** Resolves at once while others can know that this process lives; else with the next beat. @throws once it has ended */
  async mayCall(): Promise<void> {
    while (this.#next !== undefined) await this.#next;
    this.#ended.signal.throwIfAborted();
  }

  /** Ends the beats. `mayCall` throws from then on. */
  async end(): Promise<void> {
    this.#stop(new ExportError('locked', 'the slice is no longer held'));
    await this.#beating;
  }

  #stop(reason: ExportError): void {
    this.#ended.abort(reason);
    this.#watch.abort();
    this.#open();
  }

  #open(): void {
    this.#next = undefined;
    this.#wake();
  }

  async #run(): Promise<void> {
    const { clock, deadAfterSeconds } = this.#heart;
    const { signal } = this.#ended;
    for (;;) {
      await clock.sleep(deadAfterSeconds * 1000 * beatsShare, signal).catch(() => undefined);
      if (signal.aborted) return;
      // A store that fails for long is reported by whoever puts a part.
      await Promise.race([this.#put().catch(() => undefined), this.#gone]);
    }
  }

  async #put(): Promise<void> {
    const { store, clock, nonce, slice, scratch, deadAfterSeconds, isHeld, alongside } = this.#heart;
    this.#beat += 1;
    const said = { slice, scratch, deadAfterSeconds, atMs: clock.now(), beat: this.#beat };
    const beat: Beat = { ...said, ...this.#heart.process, ...this.#heart.spent(), answered: this.#heart.answered() };
    await store.put(sliceNames.alive(nonce), { bytes: Buffer.from(JSON.stringify(beat)) });
    if (this.#next !== undefined && !(await isHeld())) {
      this.#stop(lostSlice());
      // Whoever completes the export may have removed the others before.
      await store.remove([sliceNames.alive(nonce)]);
    }
    this.#watchNext();
    await alongside?.().catch(() => undefined);
  }

  /** Calls wait when no beat follows in time. A process that was frozen meets this timer first. */
  #watchNext(): void {
    const { clock, deadAfterSeconds } = this.#heart;
    this.#watch.abort();
    this.#open();
    if (this.#ended.signal.aborted) return;
    const watch = new AbortController();
    this.#watch = watch;
    clock.sleep(deadAfterSeconds * 1000 * callsShare, watch.signal).then(
      () => {
        this.#next = new Promise((resolve) => {
          this.#wake = resolve;
        });
      },
      () => undefined, // A beat followed in time.
    );
  }
}

export interface Watch {
  readonly store: ObjectStore;
  readonly log: SliceLog;
  readonly clock: Clock;
  readonly deadAfterSeconds: number;
  readonly stop: AbortSignal;
}

/** What changes while the holder of a slice lives: its heartbeat, and its log as it was last read. */
export async function holderSign(store: ObjectStore, { state: { next, holder } }: SliceLog): Promise<string> {
  const beat = holder === undefined ? undefined : await versionOf(store, sliceNames.alive(holder.nonce));
  return `${next} ${beat ?? ''}`;
}

/** How often a holder is looked at before it counts as dead. */
const looks = 12;

/**
 * Whether the holder of a slice is alive. It is dead when neither its heartbeat nor the log has changed for `deadAfterSeconds`.
 * The time is counted in sleeps of this process: clocks of machines are not compared.
 */
export async function watchHolder({ store, log, clock, deadAfterSeconds, stop }: Watch): Promise<'alive' | 'dead'> {
  const seen = async (): Promise<string> => {
    await log.refresh();
    return holderSign(store, log);
  };
  const known = log.state.next;
  const first = await seen();
  // It may have put the last entry since the log was read.
  if (log.state.next !== known) return 'alive';
  for (let look = 0; look < looks; look += 1) {
    await clock.sleep((deadAfterSeconds * 1000) / looks, stop);
    if ((await seen()) !== first) return 'alive';
  }
  return 'dead';
}

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
