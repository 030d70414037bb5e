import { Entries, type IdEntry, type EntryState } from '../../../src/core/ids/entries.ts';

/** Entries as a text says them: `v` valid, `i` invalid, `d` duplicate; ids are named by their place. */
export function entriesOf(text: string): IdEntry[] {
  const entryStates: Readonly<Record<string, EntryState>> = { v: 'valid', i: 'invalid', d: 'duplicate' };
  return Array.from(text, (letter, index) => ({
    text: `id${index}`,
    source: 0,
    line: index + 1,
    state: entryStates[letter] ?? 'valid',
    reason: letter === 'i' ? 'no id' : '',
  }));
}

/** The same in columns. */
export function inColumns(entries: readonly IdEntry[]): Entries {
  const columns = Entries.take(Math.ceil(entries.length / 2));
  for (const entry of entries) columns.add(entry);
  return columns;
}

export function entriesIn(columns: Entries): IdEntry[] {
  return Array.from({ length: columns.length }, (_, index) => columns.at(index));
}

/** The entries in blocks of these sizes, taken in turn. Like those of a file, each is emptied as the next is asked for. */
export async function* blocksOf(
  entries: readonly IdEntry[],
  sizes: readonly number[],
): AsyncGenerator<Entries, void, void> {
  for (let at = 0, turn = 0; at < entries.length; turn += 1) {
    const size = Math.max(1, sizes[turn % sizes.length] ?? 1);
    const block = inColumns(entries.slice(at, at + size));
    yield block;
    block.clear();
    at += size;
  }
}

export async function collected<T>(source: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = [];
  for await (const item of source) items.push(item);
  return items;
}
