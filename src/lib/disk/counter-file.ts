import {
  closeSync,
  constants,
  existsSync,
  fdatasync,
  fstatSync,
  fsyncSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import type { z } from 'zod';
import { ExportError } from '../export-error.ts';
import { sha256 } from '../hash/sha256.ts';
import { type Exclusion, exclusively } from '../process/lock-owner.ts';
import { promisify } from 'node:util';
import { syncFolder, openPlainSync } from './on-disk.ts';

/** What a file of counters holds, as its schema reads it. */
export interface CounterState {
  readonly version: 1;
  /** One more with each change. */
  readonly sequence: number;
}

/** How a kind of file is laid out. */
export interface CounterLayout<State extends CounterState> {
  readonly schema: z.ZodType<State>;
  /** Bytes of one copy; a file is two copies. */
  readonly copyBytes: number;
}

export interface CounterFileOptions<State extends CounterState> extends CounterLayout<State> {
  readonly path: string;
  /** Who takes turns, and where. */
  readonly exclusion: Exclusion;
  /** What the disk says, as an error for the user. */
  readonly onFailure: (cause: unknown) => Error;
}

/** What a change finds. */
export type FoundCounter<State> = State | 'nothing yet' | 'damaged';

/** What a change makes of it. */
export interface CounterChange<State, T> {
  readonly result: T;
  /** Absent: nothing is written. */
  readonly next?: Omit<State, keyof CounterState>;
  /** Called when it is written, before anybody else can change it. */
  readonly onWritten?: () => void;
}

/**
 * A file of fixed length that holds a few counters twice, for processes that share them. It is made under another name, synced and
 * renamed, so that it appears whole, and then overwritten in place, which needs no room on the disk.
 */
export class CounterFile<State extends CounterState> {
  readonly #options: CounterFileOptions<State>;
  #open: SyncedFile | undefined;
  #failure: Error | undefined;

  constructor(options: CounterFileOptions<State>) {
    this.#options = options;
  }

  get path(): string {
    return this.#options.path;
  }

  /**
   * Reads, decides and writes in one step that no other process interrupts; when it resolves, what it wrote is on the disk.
   * After a failed write or sync the file is not used again: it is unknown which of its bytes are on the disk.
   * @param work may be called again, when another process took the lock away from this one
   * @throws {ExportError} `locked`, what `onFailure` makes, and what `work` throws
   */
  async change<T>(work: (found: FoundCounter<State>, path: string) => CounterChange<State, T>): Promise<T> {
    const { path, copyBytes, exclusion, onFailure } = this.#options;
    try {
      const { result, written } = await exclusively(exclusion, (requireHeld) => {
        if (this.#failure !== undefined) throw this.#failure;
        const found = this.#read();
        const { result, next, onWritten } = work(found, path);
        if (next === undefined) return { result, written: undefined };
        const sequence = typeof found === 'object' ? found.sequence + 1 : 1;
        const copy = copyOf({ version: 1, sequence, ...next }, copyBytes);
        if (typeof found === 'object') this.#overwrite(copy, requireHeld);
        else this.#writeAnew(copy, requireHeld);
        onWritten?.();
        return { result, written: this.#open };
      });
      // Not under the lock: a sync takes long, and the next process's sync covers these bytes too.
      await written?.synced(dirname(path));
      return result;
    } catch (error) {
      if (error instanceof ExportError) throw error;
      this.#failure = onFailure(error);
      throw this.#failure;
    }
  }

  /** What it says now, by whichever copy is whole: another process may be writing the other one. */
  look(): FoundCounter<State> {
    const { path } = this.#options;
    if (!existsSync(path)) return 'nothing yet';
    const file = openPlainSync(path);
    try {
      return counterIn(readFileSync(file), this.#options) ?? 'damaged';
    } finally {
      closeSync(file);
    }
  }

  async close(): Promise<void> {
    const open = this.#open;
    this.#open = undefined;
    await open?.close();
  }

  #read(): FoundCounter<State> {
    const { path, copyBytes } = this.#options;
    const inode = statSync(path, { throwIfNoEntry: false })?.ino;
    // Another process repaired or removed the file.
    if (this.#open?.inode !== inode) void this.close();
    if (inode === undefined) return 'nothing yet';
    this.#open ??= new SyncedFile(openPlainSync(path, constants.O_RDWR | constants.O_NOFOLLOW));
    const bytes = Buffer.allocUnsafe(2 * copyBytes + 1);
    const length = readSync(this.#open.fd, bytes, 0, bytes.length, 0);
    return counterIn(bytes.subarray(0, length), this.#options) ?? 'damaged';
  }

  #overwrite(copy: Buffer, requireHeld: () => void): void {
    for (const position of [0, this.#options.copyBytes]) {
      requireHeld();
      this.#open?.write(copy, position);
    }
  }

  #writeAnew(copy: Buffer, requireHeld: () => void): void {
    const { path, copyBytes, exclusion } = this.#options;
    const unfinished = `${path}.${exclusion.self.nonce}`;
    const whole = Buffer.alloc(2 * copyBytes);
    for (const position of [0, copyBytes]) copy.copy(whole, position);
    const fd = openSync(unfinished, constants.O_RDWR | constants.O_CREAT | constants.O_TRUNC | constants.O_NOFOLLOW);
    try {
      const file = new SyncedFile(fd);
      file.write(whole, 0);
      fsyncSync(fd);
      requireHeld();
      renameSync(unfinished, path);
      void this.close();
      this.#open = file;
    } catch (error) {
      closeSync(fd);
      rmSync(unfinished, { force: true });
      throw error;
    }
  }
}

/** A copy: the SHA-256 of the text in hexadecimal digits, a blank, the text, a line feed. What follows has no meaning. */
function copyOf(state: object, copyBytes: number): Buffer {
  const text = JSON.stringify(state);
  const copy = Buffer.from(`${sha256(text)} ${text}\n`);
  if (copy.length > copyBytes) throw new Error(`${copy.length} bytes are too long for the file`);
  return copy;
}

/**
 * The state of a whole file; undefined when it is damaged. The first copy is written first, and who changes something waits
 * until both are on the disk: so whichever copy is whole, it has all that anybody was told.
 */
export function counterIn<State extends CounterState>(file: Buffer, layout: CounterLayout<State>): State | undefined {
  const { copyBytes } = layout;
  if (file.length !== 2 * copyBytes) return undefined;
  const [first, second] = [0, copyBytes].map((at) => stateIn(file.subarray(at, at + copyBytes), layout));
  if (first === undefined || second === undefined) return first ?? second;
  // With equal numbers a process that had lost its lock wrote the first.
  return first.sequence > second.sequence ? first : second;
}

function stateIn<State extends CounterState>(copy: Buffer, { schema }: CounterLayout<State>): State | undefined {
  const line = copy.subarray(0, Math.max(0, copy.indexOf('\n'))).toString('latin1');
  const text = Buffer.from(line.slice(65), 'latin1');
  if (line.slice(0, 65) !== `${sha256(text)} `) return undefined;
  return schema.safeParse(JSON.parse(text.toString())).data;
}

const sync = promisify(fdatasync);

/** An open file that is written at once and synced later, one sync for all who wait. */
export class SyncedFile {
  readonly fd: number;
  readonly inode: number;
  #running = Promise.resolve();
  #next: Promise<void> | undefined;
  #named: Promise<void> | undefined;

  constructor(fd: number) {
    this.fd = fd;
    this.inode = fstatSync(fd).ino;
  }

  write(bytes: Uint8Array, position: number): void {
    // A write may be short; the next one says why.
    for (let done = 0; done < bytes.length; )
      done += writeSync(this.fd, bytes, done, bytes.length - done, position + done);
  }

  /** Resolves when what is written by now is on the disk, and the file's name in its folder. */
  async synced(folder: string): Promise<void> {
    this.#named ??= syncFolder(folder);
    this.#next ??= this.#running
      .catch(() => undefined)
      .then(() => {
        this.#running = sync(this.fd);
        this.#next = undefined;
        return this.#running;
      });
    await Promise.all([this.#named, this.#next]);
  }

  /** Closes it after the syncs that were asked for. */
  async close(): Promise<void> {
    await Promise.allSettled([this.#next, this.#running]);
    closeSync(this.fd);
  }
}
