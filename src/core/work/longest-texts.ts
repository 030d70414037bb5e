import type { RowBlock } from '../records/row-block.ts';
import { isTextColumn, type Table } from '../records/table.ts';

/** Finds the longest value of each text column of the tables of a part, by the lengths that encoders write. */
export class LongestTexts {
  readonly #tables: { readonly name: string; readonly places: Int32Array; readonly longest: Int32Array }[];

  constructor(tables: readonly Table[]) {
    this.#tables = tables.map(({ name, columns }) => {
      const places = columns.flatMap((column, place) => (isTextColumn(column) ? [place] : []));
      return { name, places: Int32Array.from(places), longest: new Int32Array(places.length) };
    });
  }

  add(rows: ReadonlyMap<string, readonly RowBlock[]>): void {
    for (const { name, places, longest } of this.#tables) {
      for (const block of rows.get(name) ?? []) raise(longest, places, block);
    }
  }

  /** By table, in the order of its text columns. */
  maxBytes(): Record<string, number[]> {
    return Object.fromEntries(this.#tables.map(({ name, longest }) => [name, [...longest]]));
  }
}

function raise(longest: Int32Array, places: Int32Array, { rows, width, length }: RowBlock): void {
  for (let row = 0; row < rows; row += 1) {
    const base = row * width;
    for (let at = 0; at < places.length; at += 1) {
      const bytes = length[base + (places[at] ?? 0)] ?? 0;
      if (bytes > (longest[at] ?? 0)) longest[at] = bytes;
    }
  }
}
