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
  };
}
