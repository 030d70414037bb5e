import { noProofs, type ProofCounts } from '../../places/export/export-facts.ts';
import { proofColumns } from '../records/columns.ts';
import { type RowBlock, textOfCell } from '../records/row-block.ts';
import { type Table, wholeName } from '../records/table.ts';

/** Counts the verdicts of rows of `assets`, as they are written; undefined where the table has none. */
export function countProofs(table: Table | undefined, blocks: readonly RowBlock[]): ProofCounts | undefined {
  const columns = table?.columns.map(wholeName) ?? [];
  const places = proofColumns.map(({ name }) => columns.indexOf(name));
  if (places.includes(-1)) return undefined;
  const counts = { ...noProofs };
  for (const block of blocks) {
    for (let row = 0; row < block.rows; row += 1) {
      const [creators, metadata, leaf] = places.map((place) => textOfCell(block, row * block.width + place));
      if ((creators ?? metadata ?? leaf) === null) continue;
      counts.checked += 1;
      if ([creators, metadata, leaf].includes('false')) counts.unproven += 1;
      if (creators === 'false') counts.creators += 1;
      if (metadata === 'false') counts.metadata += 1;
      if (leaf === 'false') counts.leaf += 1;
    }
  }
  return counts;
}
