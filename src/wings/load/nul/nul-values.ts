import type { Column, Row } from '../../../core/records/table.ts';

export const nulRules = ['fail', 'remove', 'replace'] as const;
export type NulRule = (typeof nulRules)[number];

/** The escape of NUL in a JSON text: an even number of backslashes before it is text of its own. */
const nulEscape = /(?<=(?:^|[^\\])(?:\\\\)*)\\u0000/g;

/** @param jsonb names of columns that the database keeps as `jsonb`, which takes no escape of NUL */
export function hasNul(cell: Row[number], { name }: Column, jsonb: ReadonlySet<string>): boolean {
  if (typeof cell !== 'string') return false;
  return cell.includes('\0') || (jsonb.has(name) && cell.search(nulEscape) >= 0);
}

/** Makes rows without NUL characters, and counts the changed values. */
export class NulCleaner {
  /** By column. */
  readonly counts: Record<string, number> = {};
  readonly #columns: readonly Column[];
  readonly #jsonb: ReadonlySet<string>;
  readonly #instead: string;

  constructor(columns: readonly Column[], jsonb: ReadonlySet<string>, rule: Exclude<NulRule, 'fail'>) {
    this.#columns = columns;
    this.#jsonb = jsonb;
    this.#instead = rule === 'remove' ? '' : '\ufffd';
  }

  async *rows(parts: AsyncIterable<readonly Row[]>): AsyncGenerator<readonly Row[], void, void> {
    for await (const part of parts) yield part.map((row) => this.#row(row));
  }

  #row(row: Row): Row {
    return row.map((cell, index) => {
      const column = this.#columns[index];
      if (column === undefined || !hasNul(cell, column, this.#jsonb)) return cell;
      this.counts[column.name] = (this.counts[column.name] ?? 0) + 1;
      const plain = String(cell).replaceAll('\0', this.#instead);
      return this.#jsonb.has(column.name) ? plain.replaceAll(nulEscape, this.#instead) : plain;
    });
  }
}

/** Whether bytes hold one of these sequences. */
export async function holdsAny(bytes: AsyncIterable<Uint8Array>, sequences: readonly string[]): Promise<boolean> {
  const longest = Math.max(...sequences.map((text) => text.length));
  let rest = Buffer.alloc(0);
  for await (const piece of bytes) {
    const joined = Buffer.concat([rest, piece]);
    if (sequences.some((text) => joined.includes(text))) return true;
    rest = Buffer.from(joined.subarray(Math.max(0, joined.length - longest + 1)));
  }
  return false;
}
