import { exportPaths, journalPart, pathIn } from '../export/export-folder.ts';
import type { FileStore } from '../files/file-store.ts';
import type { JournalPlace } from './journal-entries.ts';
import { type JournalFile, openJournalFile } from './journal-file.ts';

export interface JournalEntry {
  /** 64 hex digits. */
  readonly key: string;
  /** The part whose ids were requested. */
  readonly part: number;
  readonly body: Uint8Array;
}

/** The answers of the parts that one worker makes, in their order: one file a part, and no other worker opens it. */
export interface Journal {
  /** The body that this run or an earlier one kept, or undefined. */
  find(key: string, part: number): Promise<Uint8Array | undefined>;
  /**
   * Resolves when the answer survives the end of this process; a loss of power is covered soon after, and by `closePart`. Answers of
   * closed parts are dropped.
   */
  append(entry: JournalEntry): Promise<void>;
  /** Makes the answers of a part survive a loss of power, and closes their file: the part is about to be committed. */
  closePart(part: number): Promise<void>;
  close(): Promise<void>;
}

export async function openJournal(files: FileStore, folder: string): Promise<Journal> {
  const root = pathIn(folder, exportPaths.journals);
  await files.makeFolder(root);
  const left = new Set((await files.list(root)).map(journalPart));
  return new PartJournals({ files, folder, left });
}

interface Kept {
  readonly files: FileStore;
  readonly folder: string;
  /** Parts of which earlier runs left answers. */
  readonly left: ReadonlySet<number | undefined>;
}

interface OpenPart {
  readonly file: JournalFile;
  readonly places: Map<string, JournalPlace>;
}

class PartJournals implements Journal {
  readonly #kept: Kept;
  readonly #open = new Map<number, Promise<OpenPart>>();
  #closedThrough = -1;

  constructor(kept: Kept) {
    this.#kept = kept;
  }

  async find(key: string, part: number): Promise<Uint8Array | undefined> {
    if (!this.#open.has(part) && !this.#kept.left.has(part)) return undefined;
    const { file, places } = await this.#opened(part);
    const place = places.get(key);
    return place === undefined ? undefined : file.read(place);
  }

  async append({ key, part, body }: JournalEntry): Promise<void> {
    // A refusal may be believed only after its part was closed: the next run requests it again if the part is not committed.
    if (part <= this.#closedThrough) return;
    const { file, places } = await this.#opened(part);
    places.set(key, await file.append(key, body));
  }

  async closePart(part: number): Promise<void> {
    const opened = await this.#open.get(part);
    await opened?.file.sync();
    this.#closedThrough = part;
    this.#open.delete(part);
    await opened?.file.close();
  }

  async close(): Promise<void> {
    const open = [...this.#open.values()];
    this.#open.clear();
    for (const opened of open) await (await opened).file.close();
  }

  #opened(part: number): Promise<OpenPart> {
    const known = this.#open.get(part);
    if (known !== undefined) return known;
    const opening = this.#openPart(part);
    this.#open.set(part, opening);
    opening.catch(() => this.#open.delete(part));
    return opening;
  }

  async #openPart(part: number): Promise<OpenPart> {
    const file = await openJournalFile(this.#kept.files, this.#kept.folder, part);
    const places = new Map<string, JournalPlace>();
    try {
      for await (const place of file.takeUp()) places.set(place.key, place);
    } catch (error) {
      await file.close().catch(() => undefined);
      throw error;
    }
    return { file, places };
  }
}
