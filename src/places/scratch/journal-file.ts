import { exportPaths, pathIn } from '../export/export-folder.ts';
import type { FileStore } from '../files/file-store.ts';
import { bodyAt, entryHead, type JournalPlace, nextEntry, readEntries } from './journal-entries.ts';
import type { OpenFile } from '../files/open-file.ts';

/** The file of answers of one part. */
export interface JournalFile {
  /** Resolves when the entry survives the end of this process; a loss of power is covered soon after, and by `sync`. */
  append(key: string, body: Uint8Array): Promise<JournalPlace>;
  read(place: JournalPlace): Promise<Uint8Array>;
  /** Resolves when every entry appended so far survives a loss of power. */
  sync(): Promise<void>;
  /** Finds what an earlier run left, and cuts off what is not whole. Before anything is appended. */
  takeUp(): AsyncGenerator<JournalPlace, void, void>;
  close(): Promise<void>;
}

/** Opens a file of answers, or makes it. */
export async function openJournalFile(files: FileStore, folder: string, part: number): Promise<JournalFile> {
  const file = await files.open(pathIn(folder, exportPaths.journal(part)), 'update');
  try {
    await files.syncFolder(pathIn(folder, exportPaths.journals));
  } catch (error) {
    await file.close().catch(() => undefined);
    throw error;
  }
  return new AppendedFile(file);
}

class AppendedFile implements JournalFile {
  readonly #file: OpenFile;
  /** Where the next entry goes: behind the whole ones. */
  #end = 0;
  /** Appends run one after another, so that a crash can only cut the last entry. */
  #turn: Promise<unknown> = Promise.resolve();
  /** What `end` was when the last sync began that succeeded. */
  #synced = 0;
  #syncing: Promise<void> | undefined;
  /** A sync that failed is never tried again: it may have lost what a second one would call safe. */
  #failure: Error | undefined;

  constructor(file: OpenFile) {
    this.#file = file;
  }

  async append(key: string, body: Uint8Array): Promise<JournalPlace> {
    // One that could not be written does not keep those behind it from their place.
    const turn = this.#turn.catch(() => undefined).then(() => this.#write(key, body));
    this.#turn = turn;
    const place = await turn;
    // A failure here is not lost: `sync` meets it before any part is committed.
    void this.#syncSoon().catch(() => undefined);
    return place;
  }

  async #write(key: string, body: Uint8Array): Promise<JournalPlace> {
    const head = entryHead(key, body);
    const place = { key, position: bodyAt(this.#end, body.length), length: body.length };
    await this.#file.write(head, this.#end);
    await this.#file.write(body, place.position);
    this.#end = nextEntry(place);
    return place;
  }

  read({ position, length }: JournalPlace): Promise<Uint8Array> {
    return this.#file.read(position, length);
  }

  async sync(): Promise<void> {
    while (this.#synced < this.#end) await this.#syncSoon();
  }

  /** One sync at a time; answers that arrive meanwhile share the next. */
  #syncSoon(): Promise<void> {
    this.#syncing ??= (async () => {
      const end = this.#end;
      try {
        if (this.#failure !== undefined) throw this.#failure;
        await this.#file.sync();
        this.#synced = end;
      } catch (error) {
        this.#failure = error instanceof Error ? error : new Error(String(error));
        throw error;
      } finally {
        this.#syncing = undefined;
      }
    })();
    return this.#syncing;
  }

  async *takeUp(): AsyncGenerator<JournalPlace, void, void> {
    for await (const place of readEntries(this.#file)) {
      yield place;
      this.#end = nextEntry(place);
    }
    if (this.#end < (await this.#file.size())) await this.#file.truncate(this.#end);
  }

  async close(): Promise<void> {
    await this.#turn.catch(() => undefined);
    await this.#syncing?.catch(() => undefined);
    await this.#file.close();
  }
}
