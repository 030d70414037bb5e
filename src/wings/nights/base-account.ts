import { sumOfRefresh } from '../../core/work/batch-origins.ts';
import type { PinnedBase } from './base/open-base.ts';
import type { Commit } from '../../places/export/export-facts.ts';
import type { Manifest } from '../../places/export/manifest.ts';
import type { RefreshPlan } from './refresh-export.ts';

/** What the manifest says of the base. */
export function baseAccount(
  { name, seal }: Pick<PinnedBase, 'name' | 'seal'>,
  { keys, choice, classes }: RefreshPlan,
  commits: readonly Commit[],
): NonNullable<Manifest['base']> {
  const sums = sumOfRefresh(commits.map(({ refresh }) => refresh));
  const estimate = estimateOf(sums.sample) ?? estimateOf(sums.tied);
  return {
    name,
    seal,
    asked: { ...choice.asked },
    overdue: choice.overdue,
    lost: sums.lost,
    rows: keys.rows,
    unlisted: choice.unlisted,
    classes: classes.all.map(({ when }, at) => {
      const { rows = 0, asked = 0 } = choice.classes[at] ?? {};
      return { when: [...when], rows, asked, changed: sums.changed[at] ?? 0 };
    }),
    ...(estimate === undefined ? {} : { estimate }),
  };
}

/** The 97.5 % quantile of the normal distribution. */
const z = 1.959964;

/** A share and its 95 % interval after Wilson; undefined where nothing was drawn. */
export function estimateOf([drawn, changed]: readonly [number, number]):
  | { outOfDate: number; low: number; high: number }
  | undefined {
  if (drawn === 0) return undefined;
  const share = changed / drawn;
  const weight = z ** 2 / drawn;
  const middle = (share + weight / 2) / (1 + weight);
  const half = (z * Math.sqrt((share * (1 - share)) / drawn + weight / (4 * drawn))) / (1 + weight);
  const rounded = (value: number): number => Math.round(value * 1e6) / 1e6;
  return {
    outOfDate: rounded(share),
    low: rounded(Math.max(0, middle - half)),
    high: rounded(Math.min(1, middle + half)),
  };
}
