/** Longer than any name: comparing it would take time for nothing. */
const longestGiven = 100;

/** The name that was probably meant, in any letter case, or undefined when none is near. */
export function nearestName(given: string, names: readonly string[]): string | undefined {
  if (given.length > longestGiven) return undefined;
  const wanted = given.toLowerCase();
  let nearest: string | undefined;
  let limit = given.length < 4 ? 1 : Math.max(2, Math.floor(given.length / 3));
  for (const name of names) {
    if (Math.abs(name.length - given.length) > limit) continue;
    const edits = editDistance(wanted, name.toLowerCase());
    if (edits > limit) continue;
    nearest = name;
    limit = edits - 1;
  }
  return nearest;
}

/** Insertions, deletions, replacements and swaps of neighbours that turn one text into the other (optimal string alignment). */
function editDistance(left: string, right: string): number {
  let previous: number[] = [];
  let row = Array.from({ length: right.length + 1 }, (_, column) => column);
  for (let i = 1; i <= left.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= right.length; j += 1) {
      const replaced = at(row, j - 1) + (left[i - 1] === right[j - 1] ? 0 : 1);
      const isSwap = i > 1 && j > 1 && left[i - 1] === right[j - 2] && left[i - 2] === right[j - 1];
      const swapped = isSwap ? at(previous, j - 2) + 1 : replaced;
      next.push(Math.min(at(row, j) + 1, at(next, j - 1) + 1, replaced, swapped));
    }
    [previous, row] = [row, next];
  }
  return at(row, right.length);
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? 0;
}
