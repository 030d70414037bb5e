import { createHash } from 'node:crypto';
import { dirname } from 'node:path';
import type { ByteOutput, Compression } from '../sinks/sink.ts';
import { openCodec } from './codec.ts';
import { exportPaths, pathIn } from './export-folder.ts';
import type { FileStore } from './file-store.ts';

/** Bytes are cut to blocks of this size before a codec sees them, so that a file's bytes depend on its content alone. */
const blockBytes = 1 << 20;

/** A file that is whole, synced and under its final name, but not yet committed. */
export interface FinishedFile {
  /** Path relative to the export, with forward slashes. */
  readonly path: string;
  readonly bytes: number;
  /** Hex. */
  readonly sha256: string;
}

/** One output file in the making: it has a temporary name until `publish`. Blocks given to it must not change later. */
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
  let waiting: Uint8Array[] = [];
  let waitingBytes = 0;

  async function store(block: Uint8Array): Promise<void> {
    if (block.length === 0) return;
    hash.update(block);
    bytes += block.length;
    await file.write(block);
  }

  async function drain(all: boolean): Promise<void> {
    if (waitingBytes < blockBytes && !(all && waitingBytes > 0)) return;
    const whole = waiting.length === 1 && waiting[0] !== undefined ? waiting[0] : Buffer.concat(waiting);
    let start = 0;
    for (; whole.length - start >= blockBytes; start += blockBytes) {
      await store(await encoder.push(whole.subarray(start, start + blockBytes)));
    }
    if (all && start < whole.length) await store(await encoder.push(whole.subarray(start)));
    waiting = all || start === whole.length ? [] : [whole.subarray(start)];
    waitingBytes = all ? 0 : whole.length - start;
  }

  return {
    write: async (block) => {
      waiting.push(block);
      waitingBytes += block.length;
      await drain(false);
    },
    seal: async () => {
      await drain(true);
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
      await close().catch(() => undefined);
    },
  };
}
