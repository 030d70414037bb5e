import { join } from 'node:path';
import { callKey } from '../../src/core/client/wire/call-body.ts';
import { exportPaths, pathIn } from '../../src/places/export/export-folder.ts';
import { localDisk } from '../../src/places/files/disk.ts';
import { openJournal } from '../../src/places/scratch/journal.ts';
import { rawSink } from '../../src/core/formats/raw.ts';
import { openPartFile, publishFiles } from '../../src/places/scratch/part-file.ts';
import type { Exchange } from './prepared.ts';
import type { Stage } from './stage.ts';

const files = localDisk;

const { blockBytes } = rawSink;

/** What is written besides encoding: the answers as they arrive, and the bytes of a part. */
export function diskStages(exchanges: readonly Exchange[], folder: string): Stage[] {
  const blocks = blocksOf(exchanges);
  return [
    { name: 'keep answers (journal)', kind: 'csv', run: () => keepAnswers(exchanges, join(folder, 'kept')) },
    { name: 'part file: hash, write, sync', kind: 'csv', run: () => writePartFile(blocks, join(folder, 'part')) },
  ];
}

async function keepAnswers(exchanges: readonly Exchange[], folder: string): Promise<void> {
  const journal = await openJournal(files, folder);
  for (const { call, body } of exchanges) await journal.append({ key: callKey(call), part: call.part, body });
  for (const part of new Set(exchanges.map(({ call }) => call.part))) {
    await journal.closePart(part);
    await files.remove(pathIn(folder, exportPaths.journal(part)));
  }
  await journal.close();
}

/** The bodies, cut into whole blocks. */
function blocksOf(exchanges: readonly Exchange[]): Uint8Array[] {
  const bytes = Buffer.concat(exchanges.map(({ body }) => body));
  const starts = Array.from({ length: Math.floor(bytes.length / blockBytes) }, (_, index) => index * blockBytes);
  return starts.map((start) => bytes.subarray(start, start + blockBytes));
}

async function writePartFile(blocks: readonly Uint8Array[], folder: string): Promise<void> {
  const name = 'raw/assets/part-00000.jsonl';
  const file = await openPartFile({ files, folder, name, codec: 'none', blockBytes });
  for (const block of blocks) await file.write(block);
  await file.finish();
  await publishFiles(files, folder, [name]);
}
