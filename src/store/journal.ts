import { exportPaths, partOfJournal, pathIn } from './export-folder.ts';
import type { FileStore } from './file-store.ts';
import { entryBytes, readEntries } from './journal-entries.ts';
import type { OpenFile } from './open-file.ts';

/** The answers that are not yet in a committed part, one file a part, appended as they arrive. */
export interface Journal {
  /** The body that was kept under a key (64 hex digits), or undefined. */
  find(key: string): Promise<Uint8Array | undefined>;
  /** Resolves when the answer survives the end of this process; a loss of power is covered soon after, and by `sync`. */
  append(entry: JournalEntry): Promise<void>;
  /** Resolves when every answer appended so far survives a loss of power. */
  sync(): Promise<void>;
  /** Drops the answers of parts up to and with `part`: all that they touch is committed. */
  dropThrough(part: number): Promise<void>;
  /** How many answers are kept. */
  size(): number;
  close(): Promise<void>;
}

export interface JournalEntry {
  readonly key: string;
  /** The last part that an id of the call belongs to. */
  readonly part: number;
  readonly body: Uint8Array;
}

interface Place {
  readonly file: PartJournal;
  readonly position: number;
  readonly length: number;
}

interface PartJournal {
  readonly part: number;
  readonly path: string;
  readonly file: OpenFile;
  /** Bytes that hold whole entries: where the next one goes. */
  end: number;
  /** Appends run one after another, so that a crash can only cut the last entry. */
  turn: Promise<void>;
  /** What `end` was when the last sync began that succeeded. */
  synced: number;
  syncing: Promise<void> | undefined;
  /** A sync that failed is never tried again: it may have lost what a second one would call safe. */
  failure: Error | undefined;
}

/** Opens the journals of an export and reads which answers they hold. */
export async function openJournal(files: FileStore, folder: string): Promise<Journal> {
  const root = pathIn(folder, exportPaths.journals);
  const journals = new Map<number, PartJournal>();
  const places = new Map<string, Place>();
  await files.makeFolder(root);

  async function open(part: number): Promise<PartJournal> {
    const path = pathIn(folder, exportPaths.journal(part));
    const file = await files.open(path, 'update');
    try {
      await files.syncFolder(root);
    } catch (error) {
      await file.close().catch(() => undefined);
      throw error;
    }
    const journal: PartJournal = {
      part,
      path,
      file,
      end: 0,
      turn: Promise.resolve(),
      synced: 0,
      syncing: undefined,
      failure: undefined,
    };
    journals.set(part, journal);
    return journal;
  }

  try {
    for (const name of await files.list(root)) {
      const part = partOfJournal(name);
      if (part !== undefined) await takeUp(await open(part), places);
    }
  } catch (error) {
    for (const { file } of journals.values()) await file.close().catch(() => undefined);
    throw error;
  }

  const opening = new Map<number, Promise<PartJournal>>();
  async function journalOf(part: number): Promise<PartJournal> {
    const known = journals.get(part);
    if (known !== undefined) return known;
    const pending = opening.get(part) ?? open(part);
    opening.set(part, pending);
    try {
      return await pending;
    } finally {
      opening.delete(part);
    }
  }

  return {
    find: async (key) => {
      const place = places.get(key);
      return place === undefined ? undefined : place.file.file.read(place.position, place.length);
    },
    append: async ({ key, part, body }) => {
      const journal = await journalOf(part);
      // One that could not be written does not keep those behind it from their place.
      const turn = journal.turn
        .catch(() => undefined)
        .then(async () => {
          const bytes = entryBytes(key, body);
          await journal.file.write(bytes, journal.end);
          places.set(key, { file: journal, position: journal.end + bytes.length - body.length, length: body.length });
          journal.end += bytes.length;
        });
      journal.turn = turn;
      await turn;
      // A failure here is not lost: `sync` meets it before any part is committed.
      void syncSoon(journal).catch(() => undefined);
    },
    sync: async () => {
      for (const journal of journals.values()) {
        while (journal.synced < journal.end) await syncSoon(journal);
      }
    },
    dropThrough: async (part) => {
      for (const journal of [...journals.values()].filter((each) => each.part <= part)) {
        journals.delete(journal.part);
        for (const [key, place] of places) if (place.file === journal) places.delete(key);
        await journal.syncing?.catch(() => undefined);
        await journal.file.close();
        await files.remove(journal.path);
      }
    },
    size: () => places.size,
    close: async () => {
      for (const journal of journals.values()) {
        await journal.turn.catch(() => undefined);
        await journal.syncing?.catch(() => undefined);
        await journal.file.close();
      }
      journals.clear();
      places.clear();
    },
  };
}

/** One sync at a time a file; answers that arrive meanwhile share the next. */
function syncSoon(journal: PartJournal): Promise<void> {
  journal.syncing ??= (async () => {
    const end = journal.end;
    try {
      if (journal.failure !== undefined) throw journal.failure;
      await journal.file.sync();
      journal.synced = end;
    } catch (error) {
      journal.failure = error instanceof Error ? error : new Error(String(error));
      throw error;
    } finally {
      journal.syncing = undefined;
    }
  })();
  return journal.syncing;
}

/** Finds what a journal that was left holds, and cuts off what is not whole. */
async function takeUp(journal: PartJournal, places: Map<string, Place>): Promise<void> {
  for await (const { key, position, length } of readEntries(journal.file)) {
    places.set(key, { file: journal, position, length });
    journal.end = position + length;
  }
  if (journal.end < (await journal.file.size())) await journal.file.truncate(journal.end);
}
