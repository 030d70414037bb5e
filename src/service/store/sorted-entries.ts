import { createReadStream, rmSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { type Entry, headBytes, keyBytes, SpillFiles } from './spill-files.ts';

/** Keys that are alike in so many first bytes are one id over and over: sorting them apart is no use. */
const splitDepth = 8;

/**
 * The entries of a spill file sorted by key, of equal keys the last one alone, a file's worth at a time. A file larger
 * than `sortBytes` is first spilled again by its keys' next byte. Files are deleted once they were read.
 * @param byte which byte of the key the file is for.
 */
export async function* sortedEntries(path: string, byte: number, sortBytes: number): AsyncGenerator<Entry[]> {
  const { size } = await stat(path);
  if (size > sortBytes && byte < splitDepth) {
    const folder = `${path}-split`;
    const files = new SpillFiles(folder, byte + 1);
    for await (const entries of entriesOf(path)) for (const entry of entries) files.add(entry);
    rmSync(path);
    for (const part of files.finish()) yield* sortedEntries(part, byte + 1, sortBytes);
    rmSync(folder, { recursive: true });
    return;
  }
  const last = new Map<string, Entry>();
  for await (const entries of entriesOf(path))
    for (const entry of entries) last.set(entry.key.toString('latin1'), entry);
  rmSync(path);
  yield [...last.values()].sort((a, b) => Buffer.compare(a.key, b.key));
}

/** The entries of a spill file in the order in which they were added. */
async function* entriesOf(path: string): AsyncGenerator<Entry[]> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const piece of createReadStream(path, { highWaterMark: 1 << 20 }) as AsyncIterable<Buffer>) {
    const bytes = rest.length === 0 ? piece : Buffer.concat([rest, piece]);
    const entries: Entry[] = [];
    let at = 0;
    while (at + headBytes <= bytes.length) {
      const end = at + headBytes + bytes.readUInt32LE(at + keyBytes);
      if (end > bytes.length) break;
      entries.push({ key: bytes.subarray(at, at + keyBytes), packed: bytes.subarray(at + headBytes, end) });
      at = end;
    }
    rest = bytes.subarray(at);
    yield entries;
  }
}
