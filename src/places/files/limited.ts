import { plural } from '../../lib/format-text.ts';
import type { JobShape } from '../export/export-facts.ts';

/** The field of a job that limits an export to its first ids, as its shape names it. */
export const limitField = 'ids.limit';

/** How many ids an export reads at most; undefined for an export of all ids. */
export function limitOf(shape: JobShape): number | undefined {
  const limit = shape[limitField];
  return typeof limit === 'number' ? limit : undefined;
}

/** `the first 1,000 ids only (--limit)`: said in every summary of such an export. */
export function limitText(limit: number): string {
  return `the first ${plural(limit, 'id')} only (--limit)`;
}
