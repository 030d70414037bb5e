import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CheckedId } from '../../../../src/lib/ids/checked-id.ts';
import { syncFolder } from '../../../../src/lib/disk/on-disk.ts';
import { AppendedFile } from './appended-file.ts';
import { entry, layoutVersion, storeFiles } from './index-layout.ts';
import { type AssetSource, readRecords } from './read-records.ts';

/**
 * Builds a store in a folder from files of any size, in one pass: memory holds what is read at a time.
 * @throws {ExportError} `input`
 */
export async function buildStore(source: AssetSource, folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const records = new AppendedFile(join(folder, storeFiles.records));
  const indexHash = createHash('sha256');
  const index = new AppendedFile(join(folder, storeFiles.index), indexHash);
  const words = new Uint32Array(entry.words);
  const bytes = new Uint8Array(words.buffer);
  const checked = new CheckedId();
  try {
    for await (const some of readRecords(source)) {
      for (const { id, packed } of some) {
        if (!checked.readText(id)) continue;
        checked.hashTo(words, 0);
        words[entry.lengthAt] = packed.length;
        words[entry.fromAt] = records.bytes;
        words[entry.fromAt + 1] = records.bytes / 2 ** 32;
        index.add(bytes);
        records.add(packed);
      }
    }
    records.finish();
    index.finish();
    const account = { layoutVersion, recordsBytes: records.bytes, indexHash: indexHash.digest('hex') };
    writeFileSync(join(folder, storeFiles.account), `${JSON.stringify(account)}\n`, { flush: true });
    await syncFolder(folder);
  } finally {
    records.close();
    index.close();
  }
}
