/** A file that is open for reading. */
export interface ReadableFile {
  /** Fewer bytes only at the end of the file. They may come to lie in `memory`, where it is long enough. */
  read(position: number, length: number, memory?: Uint8Array): Promise<Uint8Array>;
  size(): Promise<number>;
  close(): Promise<void>;
}

/** A file that is open for writing, too. Writes are whole (short writes are continued) and in the order they were awaited. */
export interface OpenFile extends ReadableFile {
  /** Writes at `position`, or after what was written last. What is left out before `position` reads as any bytes. */
  write(bytes: Uint8Array, position?: number): Promise<void>;
  /** Makes the file's bytes survive a loss of power. Never tried twice: a failed sync leaves nothing to trust. */
  sync(): Promise<void>;
  truncate(length: number): Promise<void>;
}
