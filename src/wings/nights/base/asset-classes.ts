import type { Base } from '../../../core/job/job-sections.ts';
import { type AssetClassifier, classifyAssets } from '../../../core/records/classify-assets.ts';
import { type MaxAge, maxAgeOf } from './ages.ts';

/** The classes of a job, and which columns decide between them. */
export interface AssetClasses extends AssetClassifier {
  /** The last one takes what fits no other. */
  readonly all: readonly {
    /** The words of the job; none for the assets that no class of the job fits. */
    readonly when: readonly string[];
    readonly maxAge: MaxAge;
  }[];
}

export function assetClasses({ classes, maxAge }: Pick<Base, 'classes' | 'maxAge'>): AssetClasses {
  return {
    ...classifyAssets(classes.map(({ when }) => when)),
    all: [
      ...classes.map((each) => ({ when: each.when, maxAge: maxAgeOf(each.maxAge) })),
      { when: [], maxAge: maxAgeOf(maxAge) },
    ],
  };
}
