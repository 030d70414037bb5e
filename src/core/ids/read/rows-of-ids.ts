/** A longer one is no row of a table, but a piece of a list. */
const longestRow = 20;

/** Whether lines or arrays of so many ids look like the rows of a table: several, and all equally long. */
export function areRows(lengths: readonly number[]): boolean {
  const [first = 0] = lengths;
  return lengths.length > 1 && first > 1 && first <= longestRow && lengths.every((length) => length === first);
}
