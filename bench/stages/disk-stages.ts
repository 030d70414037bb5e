import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { callKey } from '../../src/client/call-body.ts';
import { pagesFrom } from '../../src/lib/aligned-memory.ts';
import { diskFileStore } from '../../src/store/file-store.ts';
import { openJournal } from '../../src/store/journal.ts';
import { rawSink } from '../../src/sinks/raw.ts';
import { openPartFile } from '../../src/store/part-file.ts';
import { aligned, type Exchange } from './prepared.ts';
import type { Stage } from './stage.ts';

const files = diskFileStore;

const { blockBytes } = rawSink;

/** What is written besides encoding: the answers as they arrive, and the bytes of a part. */
export function diskStages(exchanges: readonly Exchange[], folder: string): Stage[] {
  const blocks = blocksOf(exchanges);
  return [
    { name: 'keep answers (journal)', kind: 'csv', run: () => keepAnswers(exchanges, join(folder, 'kept')) },
    { name: 'part file: hash, write, sync', kind: 'csv', run: () => writePartFile(blocks, join(folder, 'part')) },
  ];
}

/** The same bytes, written as programs mostly do: by way of the system's page cache. */
export function cachedWriteStage(exchanges: readonly Exchange[], folder: string): Stage {
  return { name: 'bodies through the page cache', kind: 'instead', run: () => writeCached(exchanges, folder) };
}

/** The same bytes, written as an export does. */
export function directWriteStage(exchanges: readonly Exchange[], folder: string): Stage {
  return { name: 'bodies past the page cache', kind: 'instead', run: () => writeDirectly(exchanges, folder) };
}

async function writeCached(exchanges: readonly Exchange[], folder: string): Promise<void> {
  const file = await open(join(folder, 'cached'), 'w');
  for (const { body } of exchanges) await file.write(body);
  await file.datasync();
  await file.close();
}

async function writeDirectly(exchanges: readonly Exchange[], folder: string): Promise<void> {
  const file = await files.open(join(folder, 'direct'), 'create');
  let end = 0;
  for (const { body } of exchanges) {
    await file.write(body, end);
    end += pagesFrom(body.length);
  }
  await file.sync();
  await file.close();
}

async function keepAnswers(exchanges: readonly Exchange[], folder: string): Promise<void> {
  const journal = await openJournal(files, folder);
  for (const { call, body } of exchanges) await journal.append({ key: callKey(call), part: call.part, body });
  await journal.sync();
  await journal.dropThrough(exchanges.at(-1)?.call.part ?? 0);
  await journal.close();
}

/** The bodies, cut into whole blocks. */
function blocksOf(exchanges: readonly Exchange[]): Uint8Array[] {
  const bytes = aligned(Buffer.concat(exchanges.map(({ body }) => body)));
  const starts = Array.from({ length: Math.floor(bytes.length / blockBytes) }, (_, index) => index * blockBytes);
  return starts.map((start) => bytes.subarray(start, start + blockBytes));
}

async function writePartFile(blocks: readonly Uint8Array[], folder: string): Promise<void> {
  const file = await openPartFile({ files, folder, name: 'raw/assets/part-00000.jsonl', codec: 'none', blockBytes });
  for (const block of blocks) await file.write(block);
  await file.seal();
  await file.publish();
}
