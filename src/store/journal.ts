import { exportPaths, journalName, pathIn } from './export-folder.ts';
import type { FileStore } from './file-store.ts';
import { type JournalFile, openJournalFile } from './journal-file.ts';
import { type JournalEntry, type KeptPlace, OwnJournals } from './own-journals.ts';

/** The answers that are not yet in a committed part, appended as they arrive: one file a part and a thread. */
export interface Journal {
  /** The body that was kept under a key (64 hex digits), or undefined. */
  find(key: string): Promise<Uint8Array | undefined>;
  /** Resolves when the answer survives the end of this process; a loss of power is covered soon after, and by `sync`. */
  append(entry: JournalEntry): Promise<void>;
  /** Resolves when every answer appended so far survives a loss of power. */
  sync(): Promise<void>;
  /** Drops the answers of parts up to and with `part`: all that they touch is committed. */
  dropThrough(part: number): Promise<void>;
  /** How many answers are kept, without those that threads append meanwhile. */
  size(): number;
  /** A number for the files of a thread that begins: no file has it, whatever earlier runs left. */
  nextThread(): number;
  close(): Promise<void>;
}

/** Opens the journals of an export and reads which answers they hold. */
export async function openJournal(files: FileStore, folder: string): Promise<Journal> {
  const root = pathIn(folder, exportPaths.journals);
  await files.makeFolder(root);
  const own = new OwnJournals(files, folder, 0);
  const places = new Map<string, KeptPlace>();
  /** What threads of earlier runs left: read, and appended to no more. */
  let left: JournalFile[] = [];
  let threads = 0;
  let threadsBegan = false;

  async function takeUp(file: JournalFile): Promise<void> {
    for await (const place of file.takeUp()) places.set(place.key, { ...place, file });
  }

  async function forget(gone: readonly JournalFile[]): Promise<void> {
    for (const file of gone) {
      for (const [key, place] of places) if (place.file === file) places.delete(key);
      await files.remove(file.path);
    }
  }

  /** Files of this run's threads, which have closed them. */
  async function removeOfThreads(part: number): Promise<void> {
    for (const name of await files.list(root)) {
      const known = journalName(name);
      if (known !== undefined && known.part <= part) await files.remove(pathIn(root, name));
    }
  }

  async function close(): Promise<void> {
    for (const file of left.splice(0)) await file.close();
    await own.closeThrough(Number.POSITIVE_INFINITY);
    places.clear();
  }

  try {
    for (const name of await files.list(root)) {
      const known = journalName(name);
      if (known === undefined) continue;
      threads = Math.max(threads, known.thread);
      if (known.thread === 0) await takeUp(await own.fileOf(known.part));
      else {
        const file = await openJournalFile(files, folder, known);
        left.push(file);
        await takeUp(file);
      }
    }
  } catch (error) {
    await close().catch(() => undefined);
    throw error;
  }

  return {
    find: async (key) => {
      const place = places.get(key);
      return place?.file.read(place);
    },
    append: async (entry) => {
      places.set(entry.key, await own.append(entry));
    },
    sync: () => own.sync(),
    dropThrough: async (part) => {
      const done = left.filter((file) => file.part <= part);
      left = left.filter((file) => file.part > part);
      for (const file of done) await file.close();
      await forget([...done, ...(await own.closeThrough(part))]);
      if (threadsBegan) await removeOfThreads(part);
    },
    size: () => places.size,
    nextThread: () => {
      threadsBegan = true;
      threads += 1;
      return threads;
    },
    close,
  };
}
