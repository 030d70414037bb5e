import { basename, dirname } from 'node:path';
import { piecesOf } from '../../../places/export/part-bytes.ts';
import { longestId } from '../../../lib/ids/asset-id.ts';
import type { Entries } from '../../../core/ids/entries.ts';
import { fingerprintInputs } from '../../../core/ids/read/input-bytes.ts';
import type { PreparedInputs } from '../../../core/ids/prepare-inputs.ts';
import { type Disk, type Reads, writeWhole, type OpenFile } from '../../../places/files/disk.ts';
import { type BaseKeys, marks } from './base-keys.ts';

/** Each id on a line of its own, filled up with blanks: its place in the file is known before those of the others are read. */
const lineBytes = longestId + 1;

/** Lines of a group that are written at once. */
const linesAtOnce = 512;

/**
 * Writes the ids that are requested, a line each: first the new ones in their order, then those of the base, the oldest first. So a run whose
 * credits end early has requested what was most urgent. Those that failed there are last: if they fail again, others were
 * answered before, which tells their faults from those of the service.
 */
export async function writeAskedIds(
  { files, path }: { readonly files: Disk; readonly path: string },
  keys: BaseKeys,
  { entries, newIds }: { readonly entries: AsyncIterable<Entries>; readonly newIds: number },
): Promise<void> {
  await files.makeFolder(dirname(path));
  await writeWhole(files, { path }, async (file) => {
    const groups = groupsOf(file, keys, newIds);
    for await (const block of entries) {
      for (let index = 0; index < block.length; index += 1) {
        if (!block.isValid(index)) continue;
        const { text } = block.at(index);
        const slot = keys.slotOf(text);
        if (slot >= 0 && !keys.has(slot, marks.asked)) continue;
        await groups.get(groupOf(keys, slot))?.add(text);
      }
    }
    for (const group of groups.values()) await group.flush();
  });
}

/** These ids as the input of an export. */
export async function askedInputs(files: Reads, path: string): Promise<PreparedInputs> {
  const read = async function* (): AsyncGenerator<Uint8Array, void, void> {
    const file = await files.open(path);
    try {
      yield* piecesOf(file);
    } finally {
      await file.close();
    }
  };
  const inputs = [
    { name: basename(path), path, format: 'lines', compression: 'none', read, form: { kind: 'lines' } },
  ] as const;
  const fingerprints = await fingerprintInputs(inputs);
  return { inputs, fingerprints, columns: [], inputBytes: fingerprints.reduce((sum, { bytes }) => sum + bytes, 0) };
}

const unknown = 'new';

/** Ids of one group stand together: missing ones, rows, failed ones, by the time at which they were requested. */
function groupOf(keys: BaseKeys, slot: number): string {
  if (slot < 0) return unknown;
  const rank = { missing: 0, row: 1, failed: 2 }[keys.fate(slot)];
  return `${rank} ${String(keys.timeMs(slot)).padStart(16, '0')}`;
}

function groupsOf(file: OpenFile, keys: BaseKeys, newIds: number): ReadonlyMap<string, Group> {
  const counts = new Map<string, number>();
  for (const slot of keys.slots()) {
    if (!keys.has(slot, marks.asked)) continue;
    const name = groupOf(keys, slot);
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  const groups = new Map<string, Group>([[unknown, new Group(file, 0)]]);
  let line = newIds;
  for (const name of [...counts.keys()].sort()) {
    groups.set(name, new Group(file, line));
    line += counts.get(name) ?? 0;
  }
  return groups;
}

class Group {
  readonly #file: OpenFile;
  #line: number;
  #texts: string[] = [];

  constructor(file: OpenFile, line: number) {
    this.#file = file;
    this.#line = line;
  }

  async add(text: string): Promise<void> {
    this.#texts.push(`${text.padEnd(lineBytes - 1)}\n`);
    if (this.#texts.length >= linesAtOnce) await this.flush();
  }

  async flush(): Promise<void> {
    const lines = this.#texts.splice(0);
    if (lines.length === 0) return;
    await this.#file.write(Buffer.from(lines.join('')), this.#line * lineBytes);
    this.#line += lines.length;
  }
}
