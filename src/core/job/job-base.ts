import type { Base } from './job-sections.ts';

/** In place of a base: the first export of several, in which everything is requested. */
export const noBase = 'none';

/** Said where a job names a base and begins without one (`base.first: request`); undefined otherwise. */
export function firstNight({ base }: { readonly base: Base }, hasFound: boolean): string | undefined {
  if (hasFound || base.from === undefined || base.from === noBase) return undefined;
  return `the base ${base.from} matches no complete export: everything is requested (base.first: request)`;
}

/** Whether an export is based on another, or is the first of such exports: then its rows say when they were requested. */
export function hasBase({ base }: { readonly base: Base }): boolean {
  return base.from !== undefined;
}
