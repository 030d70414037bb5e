import type { FileStore } from './file-store.ts';
import type { JournalPlace } from './journal-entries.ts';
import { type JournalFile, openJournalFile } from './journal-file.ts';

export interface JournalEntry {
  readonly key: string;
  /** The last part that an id of the call belongs to. */
  readonly part: number;
  readonly body: Uint8Array;
}

/** Where an answer is kept. */
export interface KeptPlace extends JournalPlace {
  readonly file: JournalFile;
}

/** The files that one thread appends its answers to, one a part. */
export class OwnJournals {
  readonly #files: FileStore;
  readonly #folder: string;
  readonly #thread: number;
  readonly #open = new Map<number, JournalFile>();
  readonly #opening = new Map<number, Promise<JournalFile>>();

  constructor(files: FileStore, folder: string, thread: number) {
    this.#files = files;
    this.#folder = folder;
    this.#thread = thread;
  }

  async append({ key, part, body }: JournalEntry): Promise<KeptPlace> {
    const file = await this.fileOf(part);
    return { ...(await file.append(key, body)), file };
  }

  async fileOf(part: number): Promise<JournalFile> {
    const known = this.#open.get(part);
    if (known !== undefined) return known;
    const opening =
      this.#opening.get(part) ?? openJournalFile(this.#files, this.#folder, { part, thread: this.#thread });
    this.#opening.set(part, opening);
    try {
      const file = await opening;
      this.#open.set(part, file);
      return file;
    } finally {
      this.#opening.delete(part);
    }
  }

  async sync(): Promise<void> {
    for (const file of this.#open.values()) await file.sync();
  }

  /** Closes the files of parts up to and with `part`, and tells which they were. */
  async closeThrough(part: number): Promise<JournalFile[]> {
    const closed = [...this.#open.values()].filter((file) => file.part <= part);
    for (const file of closed) {
      this.#open.delete(file.part);
      await file.close();
    }
    return closed;
  }
}
