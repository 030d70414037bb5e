import { type RowBlock, textOfCell } from '../records/row-block.ts';
import { entryStates, type IdEntry } from './entries.ts';
import { invalidState, reasonOfState } from './clean-id.ts';

/** Reads rows of the table `ids`: entries with the names of their inputs. */
export function* storedEntries(
  rows: RowBlock,
): Generator<Omit<IdEntry, 'source'> & { readonly input: string }, void, void> {
  for (let row = 0; row < rows.rows; row += 1) {
    const cell = (column: number): string => textOfCell(rows, row * rows.width + column) ?? '';
    const [text, state] = [cell(2), cell(3)];
    yield {
      input: cell(0),
      line: Number(cell(1)),
      text,
      state: entryStates.find((each) => each === state) ?? invalidState,
      reason: reasonOfState(state, text) ?? '',
    };
  }
}
