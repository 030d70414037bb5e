import { crc32 } from 'node:zlib';
import { z } from 'zod';
import { ExportError } from '../../lib/export-error.ts';
import { exportPaths, pathIn } from '../export/export-folder.ts';
import { type FileStore, syncFoldersOf } from '../files/file-store.ts';
import type { OpenFile } from '../files/open-file.ts';
import type { Commit } from '../export/export-facts.ts';
import { commitSchema, inputSchema, jobShapeSchema } from '../export/fact-schemas.ts';

/** Raised when a line's meaning changes: an older program refuses a newer file instead of misreading it. */
const checkpointVersion = 3;

/** What an export began with. */
export const exportStartSchema = z.object({
  job: jobShapeSchema,
  inputs: z.array(inputSchema),
  /** When the export began, in milliseconds since 1970 (UTC). */
  startedAtMs: z.number(),
  /** The export that it is based on, as it was then. */
  base: z.object({ folder: z.string(), name: z.string(), seal: z.string() }).optional(),
});

/** What an export began with: a later run must bring the same. */
export type ExportStart = z.infer<typeof exportStartSchema>;

const startSchema = exportStartSchema.extend({ version: z.number() });

/** Which parts are durable: a line for the start, then a line a committed part, each with its checksum. */
export interface Checkpoint {
  readonly start: ExportStart;
  readonly commits: readonly Commit[];
  /** Resolves when the commit survives a loss of power. */
  append(commit: Commit): Promise<void>;
  close(): Promise<void>;
}

/** Reads what a checkpoint holds, or undefined when there is none. @throws {ExportError} `damaged` */
export async function readCheckpoint(
  files: FileStore,
  folder: string,
): Promise<{ start: ExportStart; commits: Commit[]; bytes: number } | undefined> {
  const content = await files.readAll(pathIn(folder, exportPaths.checkpoint));
  if (content === undefined) return undefined;
  const lines = Buffer.from(content).toString('utf8').split('\n');
  // A line counts when its line feed is there: what follows the last one was cut by a crash.
  lines.pop();
  // A loss of power can also leave zeros in a line that was never acknowledged, with its end behind them.
  if (lines.at(-1)?.includes('\0') === true) lines.pop();
  const [first, ...rest] = lines;
  if (first === undefined) return undefined;
  const start = startSchema.safeParse(lineValue(folder, first, 1));
  if (!start.success) throw damaged(folder, 1, 'its first line is not the start of an export');
  if (start.data.version !== checkpointVersion) throw otherVersion(folder, start.data.version);
  const commits = rest.map((line, index) => {
    const commit = commitSchema.safeParse(lineValue(folder, line, index + 2));
    if (!commit.success || commit.data.part !== index) {
      throw damaged(folder, index + 2, 'it is not the commit of the next part');
    }
    return commit.data;
  });
  return { start: start.data, commits, bytes: Buffer.byteLength(lines.join('\n')) + 1 };
}

/** Opens the checkpoint of an unfinished export, or begins one with `start`. */
export async function openCheckpoint(files: FileStore, folder: string, start: ExportStart): Promise<Checkpoint> {
  const path = pathIn(folder, exportPaths.checkpoint);
  const found = await readCheckpoint(files, folder);
  const file = await files.open(path, 'update');
  const commits = found?.commits ?? [];
  let end = found?.bytes ?? 0;
  try {
    await file.truncate(end);
    if (found === undefined) end += await appendLine(file, { version: checkpointVersion, ...start }, end);
    else await writeAgain(file, end);
    await syncFoldersOf(files, folder, [path]);
  } catch (error) {
    await file.close().catch(() => undefined);
    throw error;
  }
  return {
    start: found?.start ?? start,
    commits,
    append: async (commit) => {
      end += await appendLine(file, commit, end);
      commits.push(commit);
    },
    close: () => file.close(),
  };
}

/**
 * An earlier run may have been killed before its sync, or met one that failed: then what was read is in memory alone, and
 * only bytes that are written again are sure to be synced.
 */
async function writeAgain(file: OpenFile, length: number): Promise<void> {
  await file.write(await file.read(0, length), 0);
  await file.sync();
}

async function appendLine(file: OpenFile, value: object, position: number): Promise<number> {
  const text = JSON.stringify(value);
  const line = Buffer.from(`${checksum(text)} ${text}\n`);
  await file.write(line, position);
  await file.sync();
  return line.length;
}

function lineValue(folder: string, line: string, number: number): unknown {
  const text = line.slice(9);
  if (line[8] !== ' ' || line.slice(0, 8) !== checksum(text)) throw damaged(folder, number, 'wrong checksum');
  return JSON.parse(text) as unknown;
}

function checksum(text: string): string {
  return crc32(text).toString(16).padStart(8, '0');
}

function damaged(folder: string, line: number, why: string): ExportError {
  const path = pathIn(folder, exportPaths.checkpoint);
  return new ExportError('damaged', `${path}:${line}: the checkpoint is damaged: ${why}`, {
    todo: 'Start over with --fresh, or restore the folder from a copy.',
  });
}

function otherVersion(folder: string, version: number): ExportError {
  const isNewer = version > checkpointVersion;
  return new ExportError(
    'damaged',
    `${pathIn(folder, exportPaths.checkpoint)} was written by ${isNewer ? 'a newer' : 'an older'} version (format ${version}, this one reads ${checkpointVersion})`,
    {
      todo: isNewer
        ? 'Update asset-export, or start over with --fresh.'
        : 'Finish it with that version, or start over with --fresh.',
    },
  );
}
