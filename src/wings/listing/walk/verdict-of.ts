import { count, plural } from '../../../lib/format-text.ts';
import type { ListVerdict } from './walk.ts';

/** What a walk saw, for and against its list being whole. */
export interface ListFacts {
  /** Members, each counted once. */
  readonly members: number;
  /** All totals of the service, in the order in which they came. */
  readonly totals: readonly number[];
  readonly expect: number | undefined;
  /** Rows that are missing in pages which were short at both of their answers. */
  readonly dropped: number;
  /** Members that came on two pages. */
  readonly repeats: number;
  /** Pages that were not settled: they moved, or were not requested again. As a clause. */
  readonly doubt?: string | undefined;
  /** What the way of the walk shows, if it shows that the list is whole. */
  readonly shown?: 'total' | 'ranges' | 'token' | 'pages' | undefined;
  /** A total proves nothing by itself: pages may have moved while they were read. */
  readonly hasMoved?: boolean | undefined;
  /** Why nothing is proven where nothing else is against it. */
  readonly otherwise: Omit<ListVerdict, 'proof'>;
}

/** The one verdict of all walks. What is against a proof outranks what is for it. */
export function verdictOf(facts: ListFacts): ListVerdict {
  const { members, totals, expect, dropped, repeats, doubt, shown, otherwise } = facts;
  const total = totals.at(-1);
  const of = total === undefined ? '' : `, ${count(members)} of ${count(total)} members came`;
  if (members === 0) return { proof: 'none', why: 'no members' };
  if (repeats > 0)
    return {
      proof: 'none',
      why: `${plural(repeats, 'id')} came twice: the pages moved while they were read${of}`,
    };
  if (total !== undefined && total > members + dropped) {
    const rows = dropped === 0 ? '' : `, and short pages explain ${count(dropped)} more`;
    const { restCalls } = otherwise;
    const why = `the service counts ${count(total)} members, and ${count(members)} came${rows}`;
    return { proof: 'none', why, ...(restCalls === undefined ? {} : { restCalls }) };
  }
  if (facts.hasMoved === true) return { proof: 'none', ...otherwise };
  if (total === members) return { proof: 'total' };
  if (doubt !== undefined) return { proof: 'none', ...otherwise, why: doubt };
  if (shown !== undefined) return { proof: shown };
  return expect === members ? { proof: 'expect' } : { proof: 'none', ...otherwise };
}
