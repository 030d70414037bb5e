import type { z } from 'zod';
import type { driftSchema } from '../store/export-facts.ts';

/** Values that found no column or did not fit theirs, summed by path and kind, with one id to look at. */
export type DriftFacts = z.infer<typeof driftSchema>;

/** Sums the drift of parts: most frequent first, the sample of the first part kept. */
export function mergeDrift(lists: Iterable<readonly DriftFacts[]>): DriftFacts[] {
  const byKey = new Map<string, DriftFacts>();
  for (const list of lists) {
    for (const drift of list) {
      const key = JSON.stringify([drift.kind, drift.path]);
      const known = byKey.get(key);
      byKey.set(key, known === undefined ? drift : { ...known, count: known.count + drift.count });
    }
  }
  return [...byKey.values()].sort((a, b) => b.count - a.count || (a.path < b.path ? -1 : 1));
}
