import { parentOf } from '../../lib/addresses/address-kinds.ts';
import type { Base } from './job-sections.ts';

/** Stands in `output.dir` for the UTC day on which an export begins. */
export const dateWord = '{date}';
/** `{date}` may stand so many folders above an export, at most. */
export const foldersBelowDate = 3;

/** The folder that holds the nights of a pattern: all before the last `/` in front of `{date}`. */
export function topOfNights(pattern: string): string {
  const at = pattern.indexOf(dateWord);
  return at < 0 ? parentOf(pattern) : pattern.slice(0, Math.max(1, pattern.lastIndexOf('/', at)));
}

/** Matches the name of a folder in which each `{date}` is the same day, which is the first group. */
export function dayPattern(pattern: string): RegExp {
  const [first = '', ...others] = pattern.split(dateWord).map((text) => text.replaceAll(/[^\w-]/g, '\\$&'));
  return new RegExp(`^${first}(\\d{4}-\\d\\d-\\d\\d)${others.join('\\1')}$`);
}

/** The first day in the name of a night. */
export function dayIn(name: string): string | undefined {
  return /\d{4}-\d\d-\d\d/.exec(name)?.[0];
}

/**
 * What the names of one job's nights have in common: the name without its day and hour. Names without a day have only their folder in common.
 * @param name relative to the root of the nights
 */
export function familyOf(name: string): string {
  const family = name.replaceAll(/\d{4}-\d\d-\d\d(?:(?:[T_-]|\/hour=)\d\d(?:[:-]?\d\d)*Z?)?/g, dateWord);
  return family === name ? name.slice(0, name.lastIndexOf('/') + 1) : family;
}

/** A night among others of its root. */
export interface NamedNight {
  /** The folder that holds the nights. */
  readonly root: string;
  /** Of the folders of nights, relative to the root, with `{date}`. */
  readonly pattern: string;
  /** Its UTC day, `YYYY-MM-DD`. */
  readonly day: string;
}

/**
 * Which night an export is, by the name of its folder; undefined where that names no day. The folder of a fleet has its day in place of
 * `{date}`, for workers may begin on different days.
 * @param outputDir `output.dir` as the job has it
 */
export function namedNight(outputDir: string, dir: string): NamedNight | undefined {
  const own = /\d{4}-\d\d-\d\d(?!.*\d{4}-\d\d-\d\d)/.exec(dir)?.[0];
  const whole = outputDir.includes(dateWord) || own === undefined ? outputDir : dir.replaceAll(own, dateWord);
  const at = whole.indexOf(dateWord);
  if (at < 0) return undefined;
  const root = topOfNights(whole);
  const pattern = whole.slice(root.length).replace(/^\/+|\/+$/g, '');
  return { root, pattern, day: dir.slice(at, at + 'YYYY-MM-DD'.length) };
}

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
