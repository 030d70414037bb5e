import { createHash } from 'node:crypto';
import { dirname } from 'node:path';
import { BufferPool } from '../lib/buffer-pool.ts';
import type { ByteOutput, Compression } from '../sinks/sink.ts';
import { openCodec } from './codec.ts';
import { exportPaths, pathIn } from './export-folder.ts';
import type { FileStore } from './file-store.ts';

/** Bytes are cut to blocks of this size before a codec sees them, so that a file's bytes depend on its content alone. */
const blockBytes = 1 << 20;

/** Blocks serve one file after another: fresh memory costs more than what is done with it. */
const blocks = new BufferPool(16 * blockBytes);

/** A file that is whole, synced and under its final name, but not yet committed. */
export interface FinishedFile {
  /** Path relative to the export, with forward slashes. */
  readonly path: string;
  readonly bytes: number;
  /** Hex. */
  readonly sha256: string;
}

/** One output file in the making: it has a temporary name until `publish`. Bytes given to it are its own once `write` resolves. */
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
}

/** Opens a part's file under a temporary name in `.run`, where no reader of the tables looks. */
export async function openPartFile({ files, folder, name, codec }: PartFileOptions): Promise<PartFile> {
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
  let block: Buffer | undefined;
  let blockEnd = 0;
  /** The write of the block before, which goes on while the next is filled. */
  let writing: Promise<void> = Promise.resolve();
  let hasFailed = false;

  async function storeBlock(): Promise<void> {
    await writing;
    if (block === undefined) return;
    writing = store(block, blockEnd);
    writing.catch(() => {
      hasFailed = true;
    });
    block = undefined;
    blockEnd = 0;
  }

  async function store(full: Buffer, length: number): Promise<void> {
    await storeEncoded(await encoder.push(full.subarray(0, length)));
    blocks.give(full);
  }

  async function storeEncoded(encoded: Uint8Array): Promise<void> {
    if (encoded.length === 0) return;
    hash.update(encoded);
    bytes += encoded.length;
    await file.write(encoded);
  }

  return {
    write: async (more) => {
      // Else its error would be met when the next block is full: much may be paid for until then.
      if (hasFailed) await writing;
      for (let start = 0; start < more.length; ) {
        block ??= blocks.take(blockBytes);
        const taken = Math.min(more.length - start, blockBytes - blockEnd);
        block.set(more.subarray(start, start + taken), blockEnd);
        blockEnd += taken;
        start += taken;
        if (blockEnd === blockBytes) await storeBlock();
      }
    },
    seal: async () => {
      await storeBlock();
      await writing;
      await storeEncoded(await encoder.end());
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
