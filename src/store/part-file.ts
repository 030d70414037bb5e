import { createHash } from 'node:crypto';
import { dirname } from 'node:path';
import type { ByteOutput, Compression } from '../sinks/sink.ts';
import { openCodec } from './codec.ts';
import { exportPaths, pathIn } from './export-folder.ts';
import type { FileStore } from './file-store.ts';

/** A file that is whole, synced and under its final name, but not yet committed. */
export interface FinishedFile {
  /** Path relative to the export, with forward slashes. */
  readonly path: string;
  readonly bytes: number;
  /** Hex. */
  readonly sha256: string;
}

/** One output file in the making: it has a temporary name until `publish`. */
export interface PartFile extends ByteOutput {
  /** Syncs and closes the file under its temporary name. */
  seal(): Promise<FinishedFile>;
  /** Gives a sealed file its final name. The caller syncs the folder, once for all its files. */
  publish(): Promise<void>;
  discard(): Promise<void>;
}

export interface PartFileOptions {
  readonly files: FileStore;
  /** The export's folder, absolute. */
  readonly folder: string;
  /** Final name, relative to the export. */
  readonly name: string;
  readonly codec: Compression;
  /** What the sink cuts its bytes in. */
  readonly blockBytes: number;
}

/** Opens a part's file under a temporary name in `.run`, where no reader of the tables looks. */
export async function openPartFile(options: PartFileOptions): Promise<PartFile> {
  const { files, folder, name, codec, blockBytes } = options;
  const temporary = pathIn(folder, `${exportPaths.unfinished}/${name.replaceAll('/', '--')}`);
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
    seal: async () => {
      await writing;
      await store(await encoder.end());
      await file.sync();
      await close();
      return { path: name, bytes, sha256: hash.digest('hex') };
    },
    publish: async () => {
      const target = pathIn(folder, name);
      await files.makeFolder(dirname(target));
      await files.rename(temporary, target);
    },
    discard: async () => {
      await writing.catch(() => undefined);
      await close().catch(() => undefined);
    },
  };
}
