import { exportPaths, pathIn } from '../../../places/export/export-folder.ts';
import type { Disk, Reads, OpenFile } from '../../../places/files/disk.ts';
import { boundedRunLines, isOverBounds, parseRunLines, type RunLine, runLineText } from './run-lines.ts';

/**
 * What the runs of an export did: `.run/runs.jsonl`, moved next to the manifest once the export is complete. It decides
 * nothing: it is never synced, and a write that fails loses lines of it and nothing else.
 */
export interface RunHistory {
  /** What earlier runs left. */
  readonly earlier: readonly RunLine[];
  /** Appends lines; resolves to why they are not in the file. */
  append(lines: readonly RunLine[]): Promise<Error | undefined>;
  /** What is appended later opens it again. */
  close(): Promise<void>;
}

/** The lines of an export's history; none when there is none. */
export async function readRunLines(files: Reads, folder: string): Promise<RunLine[]> {
  const unfinished = await textOf(files, pathIn(folder, exportPaths.runLines));
  return parseRunLines(unfinished ?? (await textOf(files, pathIn(folder, exportPaths.keptRunLines))) ?? '');
}

async function textOf(files: Reads, path: string): Promise<string | undefined> {
  const bytes = await files.readAll(path).catch(() => undefined);
  return bytes && Buffer.from(bytes).toString('utf8');
}

/** Opens the history of an unfinished export for the run that begins. Nothing is written before the first line. */
export function openRunHistory(files: Disk, folder: string): Promise<RunHistory> {
  return openHistory(files, pathIn(folder, exportPaths.runLines));
}

/** Opens the history that a complete export in a folder keeps. */
export function openKeptHistory(files: Disk, folder: string): Promise<RunHistory> {
  return openHistory(files, pathIn(folder, exportPaths.keptRunLines));
}

async function openHistory(files: Disk, path: string): Promise<RunHistory> {
  return new RecordFile(files, path, (await textOf(files, path)) ?? '');
}

class RecordFile implements RunHistory {
  readonly earlier: readonly RunLine[];
  readonly #files: Disk;
  readonly #path: string;
  #lines: RunLine[];
  #file: OpenFile | undefined;
  /** Where the whole lines end: the next are written there, over what was cut. */
  #end: number;
  #isCut = true;

  constructor(files: Disk, path: string, text: string) {
    this.#files = files;
    this.#path = path;
    this.#lines = parseRunLines(text);
    this.#end = Buffer.byteLength(text.slice(0, text.lastIndexOf('\n') + 1));
    this.earlier = [...this.#lines];
  }

  async append(lines: readonly RunLine[]): Promise<Error | undefined> {
    try {
      await this.#add(lines);
      return undefined;
    } catch (error) {
      this.#isCut = true;
      return error instanceof Error ? error : new Error(String(error));
    }
  }

  async #add(lines: readonly RunLine[]): Promise<void> {
    const all = [...this.#lines, ...lines];
    const bytes = Buffer.from(runLineText(lines));
    if (isOverBounds(all, this.#end + bytes.length)) return this.#writeAnew(boundedRunLines(all));
    this.#file ??= await this.#files.open(this.#path, 'update');
    if (this.#isCut) await this.#file.truncate(this.#end);
    this.#isCut = false;
    await this.#file.write(bytes, this.#end);
    this.#end += bytes.length;
    this.#lines = all;
  }

  /** Writes a new file and renames it: a reader sees the old or the new one, whole. */
  async #writeAnew(lines: RunLine[]): Promise<void> {
    const bytes = Buffer.from(runLineText(lines));
    const file = await this.#files.open(`${this.#path}.new`, 'create');
    try {
      await file.write(bytes, 0);
      await this.#files.rename(`${this.#path}.new`, this.#path);
    } catch (error) {
      await file.close().catch(() => undefined);
      throw error;
    }
    const old = this.#file;
    this.#file = file;
    this.#end = bytes.length;
    this.#lines = lines;
    await old?.close();
  }

  async close(): Promise<void> {
    await this.#file?.close().catch(() => undefined);
    this.#file = undefined;
  }
}

/** Moves the history of a complete export next to its manifest. If that fails, it is lost. */
export async function keepRunLines(files: Disk, folder: string): Promise<void> {
  const from = pathIn(folder, exportPaths.runLines);
  const size = await files.sizeOf(from).catch(() => undefined);
  if (size !== undefined) await files.rename(from, pathIn(folder, exportPaths.keptRunLines)).catch(() => undefined);
}
