import { IdList } from '../assets/id-list.ts';
import { Entries } from './entries.ts';

/** The ids of one call, with all entries of the input from the end of the batch before it to its own. */
export interface Batch {
  /** Number of the first of `entries`, from 0 over all inputs. */
  readonly first: number;
  /** Whoever has used them up releases them, but for those of a batch that two threads need. */
  readonly entries: Entries;
  /** Which of them are meant, up to `end`: all, but where a batch is cut in two. */
  readonly start: number;
  readonly end: number;
  /** The valid, first-seen ids among all `entries`, in order; none when nothing is to be asked. */
  readonly ids: IdList;
  /** The last part that an id of this batch belongs to: its answer is kept until that part is committed. */
  readonly part: number;
}

/** In place of the ids of a batch that is not to be asked for. */
export const noIds = IdList.of([]);

export interface BatchShape {
  readonly idsPerCall: number;
  readonly rowsPerPart: number;
}

/**
 * After so many entries in a row that are not asked for, a batch is closed before it is full: what waits in memory is
 * bounded, at the price of one call that is not full.
 */
const mostIdleEntries = 200_000;

/** Room for so many is made beside the ids of a call. */
const usualIdleEntries = 24;

/** Cuts the entries into full calls, across files and parts. */
export async function* batchIds(
  blocks: AsyncIterable<Entries>,
  { idsPerCall, rowsPerPart }: BatchShape,
): AsyncGenerator<Batch, void, void> {
  const spare: Entries[] = [];
  const take = (): Entries => Entries.take(idsPerCall + usualIdleEntries, spare);
  let first = 0;
  let entries = take();
  let ids = 0;
  let idle = 0;
  let last = 0;

  const cut = (): Batch => {
    const { length } = entries;
    const batch = { first, entries, start: 0, end: length, ids: entries.ids(), part: Math.floor(last / rowsPerPart) };
    first += length;
    entries = take();
    ids = 0;
    idle = 0;
    return batch;
  };

  for await (const block of blocks) {
    let from = 0;
    for (let index = 0; index < block.length; index += 1) {
      const isValid = block.isValid(index);
      // A full batch waits for the next id, so that the entries behind it come along.
      if ((ids === idsPerCall && isValid) || idle >= mostIdleEntries) {
        entries.append(block, from, index);
        from = index;
        yield cut();
      }
      if (isValid) {
        last = first + entries.length + index - from;
        ids += 1;
        idle = 0;
      } else idle += 1;
    }
    entries.append(block, from, block.length);
    if (ids === idsPerCall) yield cut();
  }
  if (entries.length > 0) yield cut();
}
