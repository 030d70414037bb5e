import type { RowBlock } from '../../../src/core/records/row-block.ts';

/** The same rows, every second cell in the source, with other bytes between cells but none behind the last. */
export function scattered(block: RowBlock): RowBlock {
  const places = { source: [] as Uint8Array[], made: [] as Uint8Array[] };
  const ends = { source: 0, made: 0 };
  const from = block.from.slice();
  for (const [cell, length] of block.length.entries()) {
    if (length < 0) continue;
    const place = cell % 2 === 0 ? 'source' : 'made';
    const start = block.from[cell] ?? 0;
    const bytes =
      start < 0 ? block.made.subarray(~start, ~start + length) : block.source.subarray(start, start + length);
    const between = Buffer.from('",\n'.slice(cell % 4));
    places[place].push(between, bytes);
    from[cell] = place === 'source' ? ends.source + between.length : ~(ends.made + between.length);
    ends[place] += between.length + length;
  }
  return { ...block, from, source: Buffer.concat(places.source), made: new Uint8Array(Buffer.concat(places.made)) };
}
