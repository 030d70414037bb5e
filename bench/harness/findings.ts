import type { Growth } from './measure-growth.ts';
import type { ReadIds } from './measure-reading.ts';
import type { Sample } from './measure-scenarios.ts';
import type { StageFigure } from '../stages/stage.ts';
import type { Sizes } from './sizes.ts';

/** Everything that was measured. */
export interface Findings {
  readonly sizes: Sizes;
  readonly samples: readonly Sample[];
  readonly reading: ReadIds;
  readonly growth: Growth;
  readonly stages: readonly StageFigure[];
}
