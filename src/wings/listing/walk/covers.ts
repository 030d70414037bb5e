import { endOfKeys, type KeyRange } from './keys.ts';

/** What an answer says of a range of keys. */
export interface Cover extends KeyRange {
  /** It is near enough to where the page begins to be settled by it. What is farther away can only agree. */
  readonly isNear: boolean;
  /** How many answers it is worth. */
  readonly answers: number;
  /** It has members: what is not settled of it is a gap of its own. */
  readonly hasMembers: boolean;
}

/** So many answers settle a range. */
const enough = 2;

/** The ranges of all keys for which the answers are not enough, in order. */
export function uncovered(covers: readonly Cover[]): KeyRange[] {
  const edges = covers
    .filter(({ from, to }) => from < to)
    .flatMap(({ from, to, isNear, answers, hasMembers }) => [
      { at: from, near: Number(isNear), answers, splits: hasMembers },
      { at: to, near: -Number(isNear), answers: -answers, splits: false },
    ])
    .sort((one, other) => (one.at < other.at ? -1 : Number(one.at > other.at)));
  const gaps: KeyRange[] = [];
  const sums = { near: 0, answers: 0 };
  let splits = false;
  let from: bigint | undefined = 0n;
  for (const [index, { at, near, answers, ...edge }] of edges.entries()) {
    sums.near += near;
    sums.answers += answers;
    splits ||= edge.splits;
    if (edges[index + 1]?.at === at) continue;
    const isSettled = sums.near > 0 && sums.answers >= enough;
    if ((isSettled || splits) && from !== undefined && from < at) {
      gaps.push({ from, to: at });
      from = undefined;
    }
    from = isSettled ? undefined : (from ?? at);
    splits = false;
  }
  if (from !== undefined && from < endOfKeys) gaps.push({ from, to: endOfKeys });
  return gaps;
}
