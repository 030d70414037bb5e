import { createHash } from 'node:crypto';
import { dirname } from 'node:path';
import type { ByteOutput, PartCodec } from '../../core/formats/sink.ts';
import { openCodec } from '../export/codec.ts';
import { exportPaths, pathIn } from '../export/export-folder.ts';
import { type Disk, syncFoldersOf } from '../files/disk.ts';

/** A file that is whole and synced, under a temporary name. */
export interface FinishedFile {
  /** Path relative to the export, with forward slashes. */
  readonly path: string;
  readonly bytes: number;
  /** Hex. */
  readonly sha256: string;
}

/** One output file in the making, under a temporary name. `publishFiles` gives it the final one. */
export interface PartFile extends ByteOutput {
  /** Syncs and closes the file under its temporary name. */
  finish(): Promise<FinishedFile>;
  discard(): Promise<void>;
}

/** Where a file lies until it is published. `name`: its final name, relative to the export. */
export function unfinishedFile(folder: string, name: string): string {
  return pathIn(folder, `${exportPaths.unfinished}/${name.replaceAll('/', '--')}`);
}

/** Gives finished files their final names, which then survive a loss of power. */
export async function publishFiles(files: Disk, folder: string, names: readonly string[]): Promise<void> {
  const targets = names.map((name) => pathIn(folder, name));
  for (const [index, name] of names.entries()) {
    const target = targets[index] ?? '';
    await files.makeFolder(dirname(target));
    await files.rename(unfinishedFile(folder, name), target);
  }
  await syncFoldersOf(files, folder, targets);
}

/** Opens a part's file under a temporary name in `.run`, where no reader of the tables looks. */
export async function openPartFile(options: {
  readonly files: Disk;
  /** The export's folder, absolute. */
  readonly folder: string;
  /** Final name, relative to the export. */
  readonly name: string;
  readonly codec: PartCodec;
  /** What the sink cuts its bytes in. */
  readonly blockBytes: number;
}): Promise<PartFile> {
  const { files, folder, name, codec, blockBytes } = options;
  const temporary = unfinishedFile(folder, name);
  await files.makeFolder(dirname(temporary));
  const file = await files.open(temporary, 'create');
  let open = true;
  const close = async (): Promise<void> => {
    if (!open) return;
    open = false;
    await file.close();
  };
  const encoder = await openCodec(codec);
  const hash = createHash('sha256');
  let bytes = 0;
  let hasEnded = false;
  /** One write after another, and none after one that failed. */
  let writing: Promise<void> = Promise.resolve();

  async function store(encoded: Uint8Array): Promise<void> {
    if (encoded.length === 0) return;
    hash.update(encoded);
    bytes += encoded.length;
    await file.write(encoded);
  }

  return {
    write: async (block) => {
      if (hasEnded || block.length > blockBytes)
        throw new Error('only the last block of a file may be of another size');
      hasEnded = block.length < blockBytes;
      writing = writing.then(() => encoder.push(block)).then(store);
      await writing;
    },
    finish: async () => {
      await writing;
      await store(await encoder.end());
      await file.sync();
      await close();
      return { path: name, bytes, sha256: hash.digest('hex') };
    },
    discard: async () => {
      await writing.catch(() => undefined);
      await close().catch(() => undefined);
    },
  };
}
