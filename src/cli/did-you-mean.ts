import { closest, distance } from 'fastest-levenshtein';

/** The name that was probably meant, or undefined when none is near. */
export function didYouMean(given: string, names: readonly string[]): string | undefined {
  if (names.length === 0) return undefined;
  const near = closest(given, [...names]);
  return distance(given, near) <= Math.max(1, Math.floor(given.length / 3)) ? near : undefined;
}
