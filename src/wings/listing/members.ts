import { idOfBytes, keyBytes } from '../../lib/ids/asset-id.ts';
import type { KeptPage } from './page-journal.ts';

/** A member of a list: where it stands among the pages. */
export interface ListMember {
  readonly kept: KeptPage;
  /** Its place in the page, from 0. */
  readonly at: number;
}

/** The members of all pages, sorted by their bytes, each once. They take 32 bytes each. */
export class Members {
  readonly #pages: KeptPage[] = [];

  add(kept: KeptPage): void {
    if (kept.page.keys.length > 0) this.#pages.push(kept);
  }

  /** How many there are, each counted once. */
  get unique(): number {
    let count = 0;
    for (const { keys } of this.runs()) count += keys.length / keyBytes;
    return count;
  }

  /** Members in order: pages do not overlap, where they were asked for by places. */
  *inOrder(): Generator<ListMember, void, void> {
    for (const { kept, first, keys } of this.runs())
      for (let at = 0; at < keys.length / keyBytes; at += 1) yield { kept, at: first + at };
  }

  /** Neighbours of one page, in order. */
  *runs(): Generator<{ readonly kept: KeptPage; readonly first: number; readonly keys: Uint8Array }, void, void> {
    const pages = this.#pages.toSorted((one, other) => Buffer.compare(firstKey(one), firstKey(other)));
    const overlaps = pages.some((page, at) => {
      const before = pages[at - 1];
      return before !== undefined && Buffer.compare(lastKey(before), firstKey(page)) >= 0;
    });
    if (overlaps) yield* merged(pages);
    else for (const kept of pages) yield { kept, first: 0, keys: kept.page.keys };
  }
}

/** Pages by tokens or numbers come in any order, and an id may come twice. */
function* merged(pages: readonly KeptPage[]) {
  const starts: number[] = [];
  let total = 0;
  for (const { page } of pages) {
    starts.push(total);
    total += page.keys.length / keyBytes;
  }
  const pageOf = new Uint32Array(total);
  for (const [index, start] of starts.entries()) pageOf.fill(index, start, starts[index + 1] ?? total);
  const keyOf = (place: number): Uint8Array => {
    const index = pageOf[place] ?? 0;
    const at = (place - (starts[index] ?? 0)) * keyBytes;
    return pages[index]?.page.keys.subarray(at, at + keyBytes) ?? new Uint8Array();
  };
  const order = Uint32Array.from({ length: total }, (_, place) => place);
  order.sort((one, other) => Buffer.compare(keyOf(one), keyOf(other)));
  for (const [rank, place] of order.entries()) {
    const before = order[rank - 1];
    const keys = keyOf(place);
    if (rank > 0 && before !== undefined && Buffer.compare(keyOf(before), keys) === 0) continue;
    const index = pageOf[place] ?? 0;
    const kept = pages[index];
    if (kept !== undefined) yield { kept, first: place - (starts[index] ?? 0), keys };
  }
}

function firstKey({ page: { keys } }: KeptPage): Uint8Array {
  return keys.subarray(0, keyBytes);
}

function lastKey({ page: { keys } }: KeptPage): Uint8Array {
  return keys.subarray(keys.length - keyBytes);
}

/** So many lines are written, and compressed, at once: the bytes of a list do not depend on its pages. */
const linesPerBlock = 20_000;

/** The text of a list: one id a line. */
export function* listBlocks(members: Members): Generator<Buffer, void, void> {
  let lines: string[] = [];
  for (const { keys } of members.runs()) {
    for (let at = 0; at < keys.length; at += keyBytes) {
      lines.push(idOfBytes(keys, at));
      if (lines.length < linesPerBlock) continue;
      yield Buffer.from(`${lines.join('\n')}\n`, 'latin1');
      lines = [];
    }
  }
  if (lines.length > 0) yield Buffer.from(`${lines.join('\n')}\n`, 'latin1');
}
