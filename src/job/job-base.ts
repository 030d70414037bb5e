import type { Base } from './base-schema.ts';

/** In place of a base: the first export of several, in which everything is requested. */
export const noBase = 'none';

/** Whether an export is based on another, or is the first of such exports: then its rows say when they were requested. */
export function hasBase({ base }: { readonly base: Base }): boolean {
  return base.from !== undefined;
}
